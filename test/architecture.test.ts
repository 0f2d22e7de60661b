import { existsSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { overlap } from '../src/kube/controller/writes/field-path.ts';
import { FACT_KINDS } from '../src/rules/catalog.ts';
import {
  hasCode,
  type Import,
  importCircles,
  packageOf,
  reachableFrom,
  readSources,
  type SourceFile,
} from './support/source.ts';

const base = ['src/kube', 'src/os', 'src/api'];

/** What each floor may import besides itself. Parts never import each other: they meet in the API server. */
const below: Record<string, readonly string[]> = {
  'src/os': [],
  'src/kube': ['src/os'],
  'src/api': ['src/kube', 'src/os'],
  'src/observability': base,
  'src/rollout': [...base, 'src/observability'],
  'src/rules': base,
  'src/constructs': [...base, 'src/rules'],
  fleet: ['src/constructs', 'rules'],
  rules: ['src/constructs'],
  'src/local': base,
  'src/providers': [...base, 'src/local'],
  'src/agent': [...base, 'src/observability'],
  'src/defender': [...base, 'src/rollout', 'src/observability'],
  'src/sync': [...base, 'src/rollout', 'src/rules', 'src/observability'],
  'src/controllers': [...base, 'src/rollout', 'src/rules', 'src/providers', 'src/local', 'src/observability'],
  'src/views': [...base, 'src/rollout'],
  'src/console': [...base, 'src/views'],
  'src/deploy': [...base, 'src/observability'],
};
// The simulator runs the real decisions, the command line and the demo connect the parts: they may import everything.
below['src/sim'] = Object.keys(below);
below['src/cli'] = [...Object.keys(below), 'src/demo'];
below['src/demo'] = [...Object.keys(below), 'src/demo'];

/**
 * Inside sync a commit goes forward: git, render, judge, promote, apply. What each folder may import besides itself.
 * `shared` are the files directly in src/sync, which import no folder but health.
 */
const SYNC_ORDER: Record<string, readonly string[]> = {
  shared: ['health'],
  health: ['shared'],
  git: ['shared'],
  'unit-order': ['shared'],
  render: ['shared', 'git', 'unit-order'],
  judge: ['shared', 'render', 'health', 'unit-order'],
  promote: ['shared', 'health'],
  apply: ['shared', 'health', 'judge', 'unit-order'],
  preview: ['shared', 'render', 'judge', 'apply'],
  intake: ['shared'],
  report: ['shared', 'git'],
  pulls: ['shared', 'git', 'render', 'preview', 'report'],
  revert: ['shared', 'git', 'report', 'pulls'],
  fleetlimits: ['shared', 'hub', 'promote'],
  hub: [
    'shared',
    'intake',
    'report',
    'pulls',
    'revert',
    'health',
    'git',
    'render',
    'judge',
    'promote',
    'apply',
  ],
};
/** They put the folders together, and nothing imports them. */
const SYNC_ENTRY_POINTS = ['src/sync/sync.ts', 'src/sync/metrics.ts'];
/** More files side by side than this hide a folder that is missing. */
const MAX_FILES = 15;
/** Folders with more, each with the reason. */
const LARGE_FOLDERS: Record<string, string> = {
  rules: 'one file for each rule, by which a person finds it',
  'src/api/kinds': 'one file for each kind, with its parts beside it',
};

/** The phase as it was recorded: of a status, of a part of it by name, or as a path. */
const PHASE_READ =
  /(?<!'[A-Z]\w*\.)\bstatus\??\.phase\b|\bphase\b[^{}\n]*\}\s*=\s*[\w.?!]*\bstatus\b|'status', 'phase'/;
/** MAC-03: what prints it for people. */
const PHASE_PRINTED = [
  'src/api/kinds/kind.ts',
  'src/cli/commands/component/coverage.ts',
  'src/cli/commands/defender/status.ts',
  'src/cli/commands/why/release.ts',
  'src/demo/tour/observed.ts',
  'src/sim/rollout/repairs/judge/leftovers.ts',
  'src/sync/metrics.ts',
  'src/views/machine/list.ts',
  'src/views/maintenance/view.ts',
  'src/views/release/commits.ts',
  'src/views/release/text.ts',
  'src/views/repair/job.ts',
  'src/views/rollout/view.ts',
];
/** Of Pods and Namespaces, whose phase does not come from conditions. */
const PHASE_OF_KUBERNETES = [
  'src/controllers/componentset/observe/pod-view.ts',
  'src/controllers/hosting/drivers/workload/data.ts',
  'src/controllers/hosting/drivers/workload/members/pods.ts',
  'src/defender/facts/observed-views.ts',
  'src/kube/drain/pods.ts',
  'src/local/kubelet/pods.ts',
  'src/kube/health/builtin-kinds.ts',
  'src/kube/health/builtin-resources.ts',
];

/** Packages that only one folder imports: every other file uses what that folder exports. */
const homes: Record<string, string> = {
  '@aws-sdk/client-ec2': 'src/providers/aws/',
  '@grafana/grafana-foundation-sdk': 'src/observability/dashboards/',
  '@kubernetes/client-node': 'src/kube/',
  '@prometheus-io/client': 'src/kube/',
  '@marcbachmann/cel-js': 'src/sync/health/expressions/',
  'age-encryption': 'src/kube/sops/',
  ajv: 'src/api/',
  'cdk8s-plus-27': 'src/deploy/',
  commander: 'src/cli/',
  'isomorphic-git': 'src/sync/git/',
  'json-rules-engine': 'src/rules/',
  openpgp: 'src/sync/git/signatures/',
  'p-queue': 'src/sync/',
  pino: 'src/kube/',
  preact: 'src/console/page/',
  ssh2: 'src/providers/ssh/',
  uplot: 'src/console/page/',
};

/** Packages that fleet repositories depend on, with the example among them. */
const FOR_FLEETS = ['cdk8s-plus-27'];

// In src/rollout the check runner and scheduler and the client of Prometheus do I/O, through ports; everything else there decides. Tests of policies import the toolchain.
const PURE =
  /^rules\/(?!test\/)|^src\/rollout\/(?!checks\/(?:runner|scheduler)\.ts)|\/(plan|progress|order|drift|budget|decide|evaluate|conditions|judge)\.ts$/;
// Commands report progress to people; they decide nothing.
const IS_SHELL = /^src\/cli\//;
const IMPURE = /Date\.now|new Date\(\)|Math\.random|process\.|\bawait\b|\basync\b/;
/** Functions of Node without effects whose result depends only on their arguments. */
const PURE_NODE: Record<string, readonly string[]> = {
  'node:util': ['isDeepStrictEqual'],
  'node:crypto': ['createHash', 'hash'],
  'node:net': ['isIP'],
};

/** What users import. */
const CONSTRUCTS = 'src/constructs/index.ts';
const CONDITION_HELPERS: readonly string[] = ['all', 'any', ...FACT_KINDS.keys()];

/** The programs, and what users import. */
const ENTRY_POINTS = [
  'src/cli/programs/agent.ts',
  'src/cli/programs/balancer.ts',
  'src/cli/programs/judge.ts',
  'src/cli/programs/kubelet.ts',
  'src/cli/main.ts',
  'src/console/page/main.tsx',
  CONSTRUCTS,
  'src/api/generate/generate.ts',
  'src/observability/generate.ts',
  'src/sim/main.ts',
  'src/sim/threads/main.ts',
  'src/sync/git/worker/main.ts',
  'src/sync/render/harness/main.ts',
  'src/sync/render/worker/main.ts',
];
/** The entry points of the agent: its bundle contains these and everything that they import. */
const AGENT_ROOTS = [
  'src/agent/main.ts',
  'src/cli/programs/agent.ts',
  'src/cli/programs/kubelet.ts',
  'src/kube/transport/https.ts',
  'src/kube/client/rest-client.ts',
  'src/kube/cache/reflector.ts',
  'src/api/dedup.ts',
  'src/api/deny-reasons.ts',
  'src/api/enums.ts',
  'src/api/grants.ts',
  'src/api/names.ts',
  'src/api/placeholders.ts',
  'src/api/steps/steps.ts',
];

/** Programs that tests start as processes or load into a browser, without importing them. */
const RUN_BY_TESTS = [
  'src/cli/programs/agent.ts',
  'src/cli/programs/balancer.ts',
  'src/cli/programs/judge.ts',
  'src/cli/programs/kubelet.ts',
  'src/cli/main.ts',
  'src/console/page/main.tsx',
  'src/api/generate/generate.ts',
  'src/observability/generate.ts',
  'src/sim/main.ts',
  'src/sim/threads/main.ts',
  'src/sync/git/worker/main.ts',
  'src/sync/render/harness/main.ts',
  'src/sync/render/worker/main.ts',
];
/** Files that no test reaches, each with the reason. */
const UNTESTED: Record<string, string> = {};

// Templates are files of a user's repository: the test of `kubenode init` checks them there.
const isOurs = ([path]: readonly [string, SourceFile]): boolean => !path.includes('/templates/');
const sources = new Map([...readSources('src', 'fleet', 'rules')].filter(isOurs));
const files = [...sources.values()];
const byHand = files.filter(({ path }) => !path.includes('/generated/'));
const pure = files.filter(({ path }) => PURE.test(path) && !IS_SHELL.test(path));

describe('architecture', () => {
  it.each(paths(files))('%s imports only floors below its own', (path) => {
    const own = layerOf(path);
    const allowed = [own, ...(below[own] ?? [])];
    expect(Object.keys(below)).toContain(own);
    expect(filesIn(path).filter((target) => !allowed.includes(layerOf(target)))).toEqual([]);
  });

  it.each(paths(files).filter((path) => controllerOf(path) !== undefined))(
    '%s imports no other controller',
    (path) => {
      const controllers = filesIn(path).flatMap((target) => controllerOf(target) ?? []);
      expect(controllers.filter((controller) => controller !== controllerOf(path))).toEqual([]);
    },
  );

  it.each(paths(files).filter((path) => commandOf(path) !== undefined))(
    '%s imports no other command',
    (path) => {
      const commands = filesIn(path).flatMap((target) => commandOf(target) ?? []);
      expect(commands.filter((command) => command !== commandOf(path))).toEqual([]);
    },
  );

  it.each(paths(files))('%s imports packages only in the folder that wraps them', (path) => {
    const packages = importsOf(path).flatMap(({ target, isFile }) => (isFile ? [] : packageOf(target)));
    const isOfFleets = (name: string): boolean => path.startsWith('fleet/') && FOR_FLEETS.includes(name);
    expect(packages.filter((name) => !path.startsWith(homes[name] ?? '') && !isOfFleets(name))).toEqual([]);
  });

  it.each(paths(pure))('%s is pure, and so is everything that it imports', (path) => {
    const reached = reachableFrom([path], sources, followsConditions);
    expect([...reached].flatMap((each) => impuritiesIn(sources.get(each)))).toEqual([]);
  });

  it.each(paths(pure).filter((path) => path.startsWith('rules/')))(
    '%s imports helpers of conditions only, not the constructs beside them',
    (path) => {
      const names = importsOf(path).flatMap((each) => (each.target === CONSTRUCTS ? each.names : []));
      expect(names.filter((name) => !CONDITION_HELPERS.includes(name))).toEqual([]);
    },
  );

  it('contains no test code: what grants without the Defender is of no use outside of the tests', () => {
    const product = [...sources.values()].filter(({ path }) => !path.startsWith('test/'));
    const imports = product.flatMap(({ path }) => importsOf(path).map(({ target }) => `${path}: ${target}`));
    expect(imports.filter((each) => each.includes(': test/'))).toEqual([]);
    const texts = product.filter(({ text }) => /granter\.ts|support\/grant/.test(text));
    expect(paths(texts)).toEqual([]);
  });

  it('MAC-03 reads the phase of a status only to print it', () => {
    const readers = [...sources.values()].filter(
      ({ path, text }) => path.startsWith('src/') && PHASE_READ.test(text),
    );
    expect(paths(readers)).toEqual([...PHASE_PRINTED, ...PHASE_OF_KUBERNETES].toSorted());
  });

  it('has no import circles, type-only imports included', () => {
    expect(importCircles(sources).map((circle) => circle.join(' - '))).toEqual([]);
  });

  it.each(paths(files).filter((path) => folderInSync(path) !== undefined))(
    '%s imports only folders of sync that come before its own',
    (path) => {
      const own = folderInSync(path) ?? '';
      const allowed = [own, ...(SYNC_ORDER[own] ?? [])];
      expect(Object.keys(SYNC_ORDER)).toContain(own);
      const targets = filesIn(path).filter((target) => target.startsWith('src/sync/'));
      expect(targets.filter((target) => !allowed.includes(folderInSync(target) ?? 'shared'))).toEqual([]);
    },
  );

  it(`has at most ${MAX_FILES} files side by side`, () => {
    const counts = Map.groupBy(paths(files), dirname);
    const large = [...counts].filter(([, { length }]) => length > MAX_FILES).map(([folder]) => folder);
    expect(large).toEqual(Object.keys(LARGE_FOLDERS));
  });

  it('has no file in src that only tests use: it belongs in test/', () => {
    const used = new Set(ENTRY_POINTS);
    for (const path of used) for (const target of filesIn(path)) used.add(target);
    expect(paths(files).filter((path) => path.startsWith('src/') && !used.has(path))).toEqual([]);
  });

  it('names only files and folders that exist', () => {
    const named = [...ENTRY_POINTS, ...AGENT_ROOTS, ...RUN_BY_TESTS, ...SYNC_ENTRY_POINTS, ...PHASE_PRINTED];
    expect([...named, ...PHASE_OF_KUBERNETES].filter((path) => !sources.has(path))).toEqual([]);
    const folders = [...Object.keys(below), ...Object.values(homes), ...Object.keys(LARGE_FOLDERS)];
    expect(folders.filter((folder) => !existsSync(folder))).toEqual([]);
  });

  it('checks the purity of more than five files', () => {
    expect(pure.length).toBeGreaterThan(5);
  });

  it('gives the agent no npm package', () => {
    const roots = [...AGENT_ROOTS, ...paths(files).filter((path) => path.startsWith('src/agent/'))];
    const bundle = [...reachableFrom(roots, sources)];
    expect(bundle.length).toBeGreaterThan(5);
    const packages = bundle.flatMap((path) =>
      importsOf(path)
        .filter(({ isFile, typeOnly, target }) => !isFile && !typeOnly && !target.startsWith('node:'))
        .map(({ target }) => `${path}: ${target}`),
    );
    expect(packages).toEqual([]);
  });

  it('has one controller for each field that controllers write', () => {
    const declared = byHand.flatMap(({ path, text }) => writesIn(text).map((field) => ({ path, field })));
    const twice = declared.filter(({ path, field }) =>
      declared.some((other) => other.path !== path && overlap(field, other.field)),
    );
    expect(twice.map(({ path, field }) => `${path}: ${field}`)).toEqual([]);
  });

  it('has a test that reaches each file with code', () => {
    const tests = readSources('test');
    const roots = [...[...tests.keys()].filter((path) => path.endsWith('.test.ts')), ...RUN_BY_TESTS];
    const reached = reachableFrom(roots, new Map([...sources, ...tests]), staysInside);
    const untested = byHand.filter(
      (file) => layerOf(file.path).startsWith('src/') && hasCode(file) && !reached.has(file.path),
    );
    expect(paths(untested)).toEqual(Object.keys(UNTESTED));
  });

  it('has the same folders under test as under src', () => {
    const folders = new Set(readdirSync('src', { recursive: true, encoding: 'utf8' }));
    const tests = [...readSources('test').keys()].filter((path) => path.endsWith('.test.ts'));
    const mirrored = tests
      .map((path) => dirname(path).split('/').slice(1))
      .filter(
        ([first]) =>
          first !== undefined &&
          !['cluster', 'e2e', 'nodes', 'support', 'lint', 'rules', 'fleet', 'policies', 'scripts'].includes(
            first,
          ),
      );
    const missing = mirrored.map((words) => words.join('/')).filter((folder) => !folders.has(folder));
    expect(missing.filter((folder) => folder !== GENERATOR)).toEqual([]);
  });
});

/** Generates commits for test/cluster/sync/fuzz, and is tested itself. */
const GENERATOR = 'sync/fuzz';

/** Rules import the helpers of conditions from the module that exports the constructs, too. */
function followsConditions(from: string, to: string): boolean {
  return from !== CONSTRUCTS || to.startsWith('src/constructs/conditions/');
}

/** The command line imports everything: a test that starts it does not test the parts. */
function staysInside(from: string, to: string): boolean {
  return layerOf(from) !== 'src/cli' || ['src/cli', 'src/demo'].includes(layerOf(to));
}

/** The folder of a controller, whatever folders it has inside. */
function controllerOf(path: string): string | undefined {
  return /^src\/controllers\/[^/]+(?=\/)/.exec(path)?.[0];
}

/** `src/cli/commands/status` of a file in that folder, and of the file with that name. */
function commandOf(path: string): string | undefined {
  return /^src\/cli\/commands\/[\w-]+(?=\/|\.ts$)/.exec(path)?.[0];
}

/** `git` of src/sync/git/http/client.ts, `shared` of a file directly in src/sync, nothing elsewhere. */
function folderInSync(path: string): string | undefined {
  if (!path.startsWith('src/sync/') || SYNC_ENTRY_POINTS.includes(path)) return undefined;
  const [, , first, ...rest] = path.split('/');
  return rest.length > 0 ? first : 'shared';
}

function paths(of: readonly SourceFile[]): readonly string[] {
  return of.map(({ path }) => path);
}

function layerOf(path: string): string {
  return Object.keys(below).find((layer) => path.startsWith(`${layer}/`)) ?? path;
}

function importsOf(path: string): readonly Import[] {
  return sources.get(path)?.imports ?? [];
}

function filesIn(path: string): readonly string[] {
  return importsOf(path).flatMap(({ isFile, target }) => (isFile ? [target] : []));
}

/** Matches text: it catches honest mistakes and proves nothing. */
function impuritiesIn(file: SourceFile | undefined): string[] {
  if (!file) return [];
  const code = file.text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
  const word = IMPURE.exec(code)?.[0];
  const imports = file.imports.filter(
    ({ target, typeOnly, names }) =>
      target.startsWith('node:') && !typeOnly && !names.every((name) => PURE_NODE[target]?.includes(name)),
  );
  return [
    ...(word ? [`${file.path}: ${word}`] : []),
    ...imports.map(({ target }) => `${file.path}: ${target}`),
  ];
}

/** `writes: ['Machine.spec.components', …]` of a controller. */
function writesIn(text: string): string[] {
  const lists = [...text.matchAll(/\bwrites: \[(?<fields>(?:\s*'[^']*',?)*)\s*\]/g)];
  return lists.flatMap(({ groups }) => (groups?.['fields'] ?? '').match(/(?<=')[^',\s]+(?=')/g) ?? []);
}
