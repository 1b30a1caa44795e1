//! A revision's official schema, with the deviations written into it, and validators for its definitions.

use std::collections::BTreeSet;

use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value, json};
use twolane::tables::versions::Revision;

use crate::bundle;
use crate::deviations::Deviation;

pub struct Official {
    pub revision: Revision,
    schema: Value,
    /// Where the definitions stand in it.
    place: &'static str,
}

impl Official {
    /// All revisions; `None` where the schemas are not here.
    pub fn all(deviations: &[&[Deviation]]) -> Option<Vec<Self>> {
        let schemas = bundle::load()?;
        Some(
            schemas
                .into_iter()
                .map(|(revision, mut schema)| {
                    let place = if schema.get("$defs").is_some() { "$defs" } else { "definitions" };
                    for deviation in deviations.iter().copied().flatten() {
                        assert!(deviation.reason.ends_with('.'));
                        (deviation.write)(revision, schema[place].as_object_mut().unwrap());
                    }
                    Self { revision, schema, place }
                })
                .collect(),
        )
    }

    pub fn definitions(&self) -> &Map<String, Value> {
        self.schema[self.place].as_object().unwrap()
    }

    /// What a `$ref` names.
    pub fn definition(&self, reference: &str) -> &Value {
        &self.definitions()[reference.rsplit('/').next().unwrap()]
    }

    /// The definitions of requests, or of notifications, by their methods: those that clients send.
    pub fn of_clients(&self, ending: &str) -> Vec<(&str, &str)> {
        let list =
            &self.definitions()[if ending == "Request" { "ClientRequest" } else { "ClientNotification" }];
        let listed: BTreeSet<&str> = match list.get("anyOf").and_then(Value::as_array) {
            Some(options) => options
                .iter()
                .map(|option| option["$ref"].as_str().unwrap().rsplit('/').next().unwrap())
                .collect(),
            // The only one there is stands in its place.
            None => BTreeSet::from(["CancelledNotification"]),
        };
        let extension = ["GetTaskRequest", "UpdateTaskRequest", "CancelTaskRequest"];
        self.definitions()
            .iter()
            .filter(|(name, _)| name.ends_with(ending))
            .filter(|(name, _)| listed.contains(name.as_str()) || extension.contains(&name.as_str()))
            .filter_map(|(name, schema)| {
                Some((schema["properties"]["method"]["const"].as_str()?, name.as_str()))
            })
            .collect()
    }

    /// A validator for messages that fit all of these definitions.
    pub fn validator(&self, names: &[&str]) -> Validator {
        let mut schema = self.schema.clone();
        schema["allOf"] =
            names.iter().map(|name| json!({"$ref": format!("#/{}/{name}", self.place)})).collect();
        jsonschema::options()
            .with_pattern_options(PatternOptions::regex())
            .should_validate_formats(false)
            .offline()
            .build(&schema)
            .unwrap()
    }

    /// The names of all members that a definition and those it refers to know; none where there is no such definition.
    pub fn keys(&self, name: &str) -> BTreeSet<String> {
        let mut keys = BTreeSet::new();
        let mut seen = BTreeSet::new();
        if let Some(definition) = self.definitions().get(name) {
            self.collect_keys(definition, &mut keys, &mut seen);
        }
        keys
    }

    fn collect_keys<'s>(
        &'s self,
        schema: &'s Value,
        keys: &mut BTreeSet<String>,
        seen: &mut BTreeSet<&'s str>,
    ) {
        match schema {
            Value::Object(keywords) => {
                for (keyword, value) in keywords {
                    match (keyword.as_str(), value) {
                        ("properties", Value::Object(members)) => keys.extend(members.keys().cloned()),
                        ("$ref", Value::String(reference)) if seen.insert(reference) => {
                            self.collect_keys(self.definition(reference), keys, seen);
                        }
                        (_, _) => {}
                    }
                    self.collect_keys(value, keys, seen);
                }
            }
            Value::Array(schemas) => schemas.iter().for_each(|schema| self.collect_keys(schema, keys, seen)),
            _ => {}
        }
    }
}
