'use strict';
// Makes the JSON Schemas that `temporal-media schema` prints from the declarations in lib (ADR 21). Called by the
// build; does nothing when nothing that they are made of has changed.
const { createHash } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');

const root = path.resolve(__dirname, '..');
const cli = path.join(root, 'packages', 'cli');
// One file for each document, which users may read in the package too.
const RESULT = path.join(cli, 'lib', 'schemas');
// Digests of all that the result was made of. Beside the build info of tsc, and not published either.
const INPUTS = path.join(cli, 'lib', '.schemas.tsbuildinfo');
// Each of its properties is one document.
const TYPE = 'Documents';

function buildJsonSchemas() {
  if (isUpToDate()) return;
  // Not before: it loads a compiler.
  const {
    createFormatter,
    createParser,
    createProgram,
    DEFAULT_CONFIG,
    SchemaGenerator,
  } = require('ts-json-schema-generator');
  const config = {
    ...DEFAULT_CONFIG,
    // Declarations hold the comments and no function bodies.
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
  // The code that was built just now; a build that made no code has ended before this.
  const { SCHEMA_NAMES } = require('../packages/cli/lib/schema/command.js');
  // Without those of an earlier build, under names that are gone.
  fs.rmSync(RESULT, { recursive: true, force: true });
  fs.mkdirSync(RESULT);
  for (const [name, schema] of Object.entries(properties)) {
    const { $schema, ...rest } = document(schema, definitions, name.endsWith('-input'));
    const titled = { $schema, title: `temporal-media ${name}`, ...rest, description: SCHEMA_NAMES[name] };
    write(path.join(RESULT, `${name}.json`), titled);
  }
  // Last: what has inputs is whole.
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
 * One schema of its own, with the definitions that it needs: the generator writes draft 7, of one type.
 * @param {boolean} closed whether other fields than those that it names are refused
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
    // An object with names of its own; one of any names has none.
    const isNamed = closed && value.type === 'object' && typeof value.properties === 'object';
    return isNamed ? { ...adapted, additionalProperties: false } : adapted;
  };
  const need = (name) => {
    if (!needed.has(name)) {
      // Before its definition, which may refer to itself.
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

/** A comment without what it cites for readers of the code. */
function forUsers(comment) {
  return comment
    .replace(/ \((?:C\d|contract[ -]|architecture: |failure model: |ADR \d)[^()]*\)/g, '')
    .replace(/\{@link ([^}]+)\}/g, '$1')
    .replace(/ {2,}/g, ' ');
}

/** Complete or absent, for commands that run meanwhile. */
function write(file, content) {
  const draft = `${file}.${process.pid}`;
  fs.writeFileSync(draft, `${JSON.stringify(content)}\n`);
  fs.renameSync(draft, file);
}

module.exports = { buildJsonSchemas };
