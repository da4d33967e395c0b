'use strict';
// `npm run site [-- --out FOLDER]`: writes all pages of docs/ and a reference of all exports, from their docstrings, as
// static files with a search, to out/site. `npm run site -- --check`: writes nothing. Both exit with 1 for an export,
// method or property without a docstring, a broken link, or a type that an export needs but that is neither exported
// nor in api-unexported.json.
const path = require('node:path');
const { parseArgs } = require('node:util');
const { name } = require('../package.json');
const unexported = require('./api-unexported.json');
const { packageFolders, readManifest, ROOT: root } = require('./packages.js');

const OUT = path.join(root, 'out', 'site');

/** The source of each entry point that has types, and the name that users import. */
const entries = new Map(
  packageFolders().flatMap((folder) => {
    const { name: own, exports: subpaths } = readManifest(folder);
    return Object.entries(subpaths).flatMap(([subpath, { types }]) => {
      if (types === undefined || subpath.includes('*')) return [];
      const source = types.replace(/^\.\/lib\//, 'src/').replace(/\.d\.ts$/, '.ts');
      return [[path.relative(root, path.join(folder, source)), subpath.replace('.', own)]];
    });
  }),
);

const OPTIONS = {
  entryPoints: [...entries.keys()],
  basePath: root,
  tsconfig: path.join(root, 'tsconfig.json'),
  // `npm run types` finds type errors.
  skipErrorChecking: true,
  name,
  includeVersion: true,
  readme: path.join(root, 'README.md'),
  projectDocuments: ['docs/*.md', 'docs/adr/*.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'].map(
    (place) => path.join(root, place),
  ),
  // The pages' links to sources lead to copies, because the repository has no public address yet.
  disableGit: true,
  sourceLinkTemplate: '{path}',
  searchInDocuments: true,
  // Its anchors use other names than those that users import.
  includeHierarchySummary: false,
  searchInComments: true,
  excludePrivate: true,
  excludeExternals: true,
  validation: { invalidLink: true, notDocumented: true, notExported: true },
  // `undocumentedProperties` checks properties.
  requiredToBeDocumented: ['Module', 'Variable', 'Function', 'Class', 'Interface', 'TypeAlias', 'Method'],
  intentionallyNotExported: Object.values(unexported).flat(),
};

async function main() {
  const { values } = parseArgs({
    options: { check: { type: 'boolean', default: false }, out: { type: 'string', default: OUT } },
  });
  // TypeDoc is ESM only.
  const { Application, OptionDefaults } = await import('typedoc');
  const app = await Application.bootstrap({
    ...OPTIONS,
    highlightLanguages: [...OptionDefaults.highlightLanguages, 'diff', 'go', 'python'],
    // For the JSON Schemas.
    blockTags: [...OptionDefaults.blockTags, '@minLength', '@maxLength'],
  });
  const project = await app.convert();
  if (project === undefined) throw new Error('TypeDoc could not read the sources.');
  // Names each module as users import it, not after its file.
  for (const module of project.children ?? []) {
    const file = module.sources?.[0]?.fileName;
    module.name = entries.get(file) ?? module.name;
  }
  app.validate(project);
  for (const name of await undocumentedProperties(project))
    app.logger.warn(`${name} does not have any documentation`);
  const { errorCount, warningCount } = app.logger;
  if (errorCount + warningCount > 0) process.exitCode = 1;
  if (!values.check) {
    for (const reflection of Object.values(project.reflections)) delete reflection.sources;
    await app.generateDocs(project, values.out);
    console.log(path.join(path.relative(root, values.out), 'index.html'));
  }
  console.log(`${entries.size} entry points, ${errorCount + warningCount} problems`);
}

/**
 * Returns properties of interfaces and classes without a docstring, except those that can have only one value, such as
 * a variant's name. Fields of unnamed types belong to their owner's docstring.
 */
async function undocumentedProperties(project) {
  const { ReflectionKind } = await import('typedoc');
  const named = ReflectionKind.Interface | ReflectionKind.Class;
  return project
    .getReflectionsByKind(ReflectionKind.Property | ReflectionKind.Accessor)
    .filter(
      (property) =>
        property.parent?.kindOf(named) && /^(?:src|packages)\//.test(property.sources?.[0]?.fileName ?? ''),
    )
    .filter(({ inheritedFrom, type }) => inheritedFrom === undefined && type?.type !== 'literal')
    .filter(
      (property) => !property.hasComment() && !property.getSignature?.hasComment() && !isMethod(property),
    )
    .map((property) => property.getFullName());
}

/** Whether a property is a function, which has its docstring at the signature. */
const isMethod = ({ type }) =>
  type?.type === 'reflection' && (type.declaration.signatures ?? []).some((one) => one.hasComment());

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
