mod calling;
mod describing;
mod support;
mod telling;
