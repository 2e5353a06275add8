//! As much of JSON Schema as the schema of the protocol uses, and stricter: a member that it does not name is a
//! mistake, so that nothing is sent that it does not tell.

use serde_json::Value;

pub(super) struct Schema(Value);

impl Schema {
    pub(super) fn new(text: &str) -> Self {
        Self(serde_json::from_str(text).unwrap())
    }

    /// Fails where a value is not as the definition says.
    pub(super) fn check(&self, definition: &str, value: &Value) {
        if let Err(why) = self.find(definition, value) {
            panic!("{definition}: {why}");
        }
    }

    /// What a value has that a definition does not allow.
    pub(super) fn find(&self, definition: &str, value: &Value) -> Result<(), String> {
        self.is_valid(&self.0["$defs"][definition], value)
    }

    fn is_valid(&self, schema: &Value, value: &Value) -> Result<(), String> {
        let schema = schema.as_object().unwrap_or_else(|| panic!("{schema} is no schema"));
        for (keyword, wanted) in schema {
            let is_right = match keyword.as_str() {
                "description" | "title" => true,
                "$ref" => {
                    let name = wanted.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                    self.find(name, value)?;
                    true
                }
                "type" => match wanted {
                    Value::Array(types) => types.iter().any(|wanted| is_of(wanted, value)),
                    wanted => is_of(wanted, value),
                },
                "const" => wanted == value,
                "enum" => wanted.as_array().unwrap().contains(value),
                "anyOf" => self.valid_in(wanted, value) > 0,
                "oneOf" => self.valid_in(wanted, value) == 1,
                "required" => value.as_object().is_none_or(|members| {
                    wanted.as_array().unwrap().iter().all(|name| members.contains_key(name.as_str().unwrap()))
                }),
                "properties" => self.are_valid(schema, wanted, value)?,
                "additionalProperties" if wanted.is_object() => {
                    for member in value.as_object().into_iter().flatten() {
                        self.is_valid(wanted, member.1)?;
                    }
                    true
                }
                // Members that are not named are refused anyway.
                "additionalProperties" => true,
                "items" => {
                    for element in value.as_array().into_iter().flatten() {
                        self.is_valid(wanted, element)?;
                    }
                    true
                }
                "minItems" => value.as_array().is_none_or(|all| all.len() as u64 >= wanted.as_u64().unwrap()),
                "maxItems" => value.as_array().is_none_or(|all| all.len() as u64 <= wanted.as_u64().unwrap()),
                "minLength" => {
                    value.as_str().is_none_or(|text| text.chars().count() as u64 >= wanted.as_u64().unwrap())
                }
                "maxLength" => {
                    value.as_str().is_none_or(|text| text.chars().count() as u64 <= wanted.as_u64().unwrap())
                }
                "minimum" => value.as_f64().is_none_or(|number| number >= wanted.as_f64().unwrap()),
                "maximum" => value.as_f64().is_none_or(|number| number <= wanted.as_f64().unwrap()),
                "pattern" => value
                    .as_str()
                    .is_none_or(|text| regex_lite::Regex::new(wanted.as_str().unwrap()).unwrap().is_match(text)),
                other => panic!("the schema has {other}, which is not looked at here"),
            };
            if !is_right {
                return Err(format!("{value} is not as {keyword} says: {wanted}"));
            }
        }
        Ok(())
    }

    fn valid_in(&self, schemas: &Value, value: &Value) -> usize {
        schemas.as_array().unwrap().iter().filter(|schema| self.is_valid(schema, value).is_ok()).count()
    }

    fn are_valid(
        &self,
        schema: &serde_json::Map<String, Value>,
        properties: &Value,
        value: &Value,
    ) -> Result<bool, String> {
        for (name, member) in value.as_object().into_iter().flatten() {
            match properties.get(name) {
                Some(property) => self.is_valid(property, member)?,
                // Without a type it adds to what another says of the same value.
                None if schema.contains_key("type") => return Err(format!("nothing is said of {name}")),
                None => {}
            }
        }
        Ok(true)
    }
}

fn is_of(wanted: &Value, value: &Value) -> bool {
    match wanted.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("the schema has the type {other}"),
    }
}
