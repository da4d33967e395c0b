'use strict';
// Generates the JSON Schemas that `temporal-media schema` prints from the declarations in lib (ADR 21). Called by the
// build. Does nothing if their inputs have not changed.
const { createHash } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');

const root = path.resolve(__dirname, '..');
const cli = path.join(root, 'packages', 'cli');
// One file per document. Users can also read them in the package.
const RESULT = path.join(cli, 'lib', 'schemas');
// Digests of all inputs, next to tsc's build info. Neither is published.
const INPUTS = path.join(cli, 'lib', '.schemas.tsbuildinfo');
// Each property of this type is one document.
const TYPE = 'Documents';

function buildJsonSchemas() {
  if (isUpToDate()) return;
  // Required here because it loads a compiler.
  const {
    createFormatter,
    createParser,
    createProgram,
    DEFAULT_CONFIG,
    SchemaGenerator,
  } = require('ts-json-schema-generator');
  const config = {
    ...DEFAULT_CONFIG,
    // Declarations contain the comments but no function bodies.
    path: path.join(cli, 'lib', 'schemas.d.ts'),
    tsconfig: path.join(cli, 'tsconfig.build.json'),
    // tsc has just checked them.
    skipTypeCheck: true,
    // Later versions may add fields.
    additionalProperties: true,
    encodeRefs: false,
    sortProps: false,
    topRef: false,
  };
  const program = createProgram(config);
  const parser = createParser(program, config);
  const { properties, definitions } = new SchemaGenerator(
    program,
    parser,
    createFormatter(config),
    config,
  ).createSchema(TYPE);
  // The code that was just built. A build without code ends before this.
  const { SCHEMA_NAMES } = require('../packages/cli/lib/schema/command.js');
  // Removes schemas from an earlier build whose names no longer exist.
  fs.rmSync(RESULT, { recursive: true, force: true });
  fs.mkdirSync(RESULT);
  for (const [name, schema] of Object.entries(properties)) {
    const { $schema, ...rest } = document(schema, definitions, name.endsWith('-input'));
    const titled = { $schema, title: `temporal-media ${name}`, ...rest, description: SCHEMA_NAMES[name] };
    write(path.join(RESULT, `${name}.json`), titled);
  }
  // Written last, so that the schemas are complete if the inputs exist.
  const sources = program.getSourceFiles().map(({ fileName }) => path.relative(root, fileName));
  const inputs = [
    'scripts/json-schemas.js',
    'node_modules/ts-json-schema-generator/package.json',
    ...sources.filter((file) => !file.includes('node_modules')),
  ];
  write(INPUTS, Object.fromEntries(inputs.map((file) => [file, digestOf(file)])));
}

function isUpToDate() {
  if (!fs.existsSync(RESULT) || !fs.existsSync(INPUTS)) return false;
  const inputs = Object.entries(JSON.parse(fs.readFileSync(INPUTS, 'utf8')));
  return inputs.every(([file, digest]) => digestOf(file) === digest);
}

function digestOf(file) {
  const place = path.join(root, file);
  return fs.existsSync(place) ? createHash('sha256').update(fs.readFileSync(place)).digest('hex') : null;
}

/**
 * Returns a standalone schema with the definitions that it needs. The generator writes draft 7, for one type.
 * @param {boolean} closed whether fields that the schema does not name are rejected
 */
function document(schema, definitions, closed) {
  const needed = new Map();
  const adapt = (value) => {
    if (Array.isArray(value)) return value.map(adapt);
    if (typeof value !== 'object' || value === null) return value;
    const adapted = Object.fromEntries(
      Object.entries(value).map(([keyword, inner]) => {
        if (keyword === '$ref') return [keyword, `#/$defs/${need(definitionOf(inner))}`];
        if (keyword === 'description' && typeof inner === 'string') return [keyword, forUsers(inner)];
        return [keyword, adapt(inner)];
      }),
    );
    // Only for an object with named properties, not for a map.
    const isNamed = closed && value.type === 'object' && typeof value.properties === 'object';
    return isNamed ? { ...adapted, additionalProperties: false } : adapted;
  };
  const need = (name) => {
    if (!needed.has(name)) {
      // Set before the definition, which may refer to itself.
      needed.set(name, undefined);
      needed.set(name, adapt(definitions[name]));
    }
    return name;
  };
  const top = adapt(schema.$ref === undefined ? schema : definitions[definitionOf(schema.$ref)]);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    ...top,
    ...(needed.size > 0 && { $defs: Object.fromEntries(needed) }),
  };
}

const definitionOf = (ref) => ref.replace('#/definitions/', '');

/** Removes references for readers of the code from a comment. */
function forUsers(comment) {
  return comment
    .replace(/ \((?:C\d|contract[ -]|architecture: |failure model: |ADR \d)[^()]*\)/g, '')
    .replace(/\{@link ([^}]+)\}/g, '$1')
    .replace(/ {2,}/g, ' ');
}

/** Writes a file atomically, because commands may be running. */
function write(file, content) {
  const draft = `${file}.${process.pid}`;
  fs.writeFileSync(draft, `${JSON.stringify(content)}\n`);
  fs.renameSync(draft, file);
}

module.exports = { buildJsonSchemas };
