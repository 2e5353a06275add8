mod conversing;
mod in_company;
mod support;
mod turning;
