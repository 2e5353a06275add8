mod conversing;
mod support;
mod turning;
