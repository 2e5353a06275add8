mod foreground;
mod support;
