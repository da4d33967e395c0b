package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The JSON Schemas from temporal-media's lib/schemas folder, wherever you keep a copy. Compiled before a workflow runs.
var schemas = compileSchemas(os.Getenv("MEDIA_SCHEMAS"))

func compileSchemas(folder string) map[string]*jsonschema.Schema {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		panic(err)
	}
	compiled := map[string]*jsonschema.Schema{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		compiled[name] = jsonschema.NewCompiler().MustCompile(file)
	}
	return compiled
}

func validate(name string, value message) error {
	return schemas[name].Validate(value)
}
