/** Every controller has the same parts: a reader of one knows where to look in all others. */
import { describe, expect, it } from 'vitest';
import { reachableFrom, readSources } from '../support/source.ts';

const sources = readSources('src');
const paths = [...sources.keys()].filter((path) => path.startsWith('src/controllers/'));
const controllers = [...new Set(paths.flatMap((path) => /^src\/controllers\/(\w+)\//.exec(path)?.[1] ?? []))];

/** Each is a file, or a folder with a file of its name. */
const PARTS = ['controller', 'execute', 'observe', 'plan', 'status'] as const;
type Part = (typeof PARTS)[number];

/** The parts that a controller does not need, each with the reason. */
const WITHOUT: Readonly<Record<string, Readonly<Partial<Record<Part, string>>>>> = {
  approver: { status: 'the decision about a request is its status' },
  bootstraptoken: { status: 'a token has none' },
  orphansweep: { observe: 'it lists the instances right before it deletes one, and no decision is older' },
  notifier: { status: 'the annotation of the job records what was delivered' },
  tracer: {
    plan: 'src/observability/trace decides what is exported, for kubenode sync, too',
    status: 'what was exported is remembered by the process alone',
  },
  machinecomponent: { execute: 'it writes a status and nothing else' },
};

const WRITE =
  /\bcontext\s*\.(?:apply|applyStatus|reportStatus|patch|create|delete|evict|addFinalizer|removeFinalizer|event)\(|\bgrants\s*\.(?:ask|renew|settle)\(|\bclient\s*\.(?:apply|create|delete|evict|patch|replace)\(/;
/** What reads and writes the cluster, and what tells the time. */
const SHELL = /^src\/(?:kube\/(?:client\/|cache\/|controller\/reconcile-context)|os\/(?!dates|x509|errors))/;

function hasPart(controller: string, part: Part): boolean {
  return [part, `${part}/${part}`].some((name) => sources.has(`src/controllers/${controller}/${name}.ts`));
}

/** Also of the rooms inside a controller, such as the instances of machines. */
function isIn(path: string, parts: readonly Part[]): boolean {
  return new RegExp(`^src/controllers/.+/(?:${parts.join('|')})(?:\\.ts|/)`).test(path);
}

describe('the controllers', () => {
  it('are fourteen', () => {
    expect(controllers).toHaveLength(14);
    expect(controllers).toEqual(expect.arrayContaining(Object.keys(WITHOUT)));
  });

  it.each(controllers)('%s has each part, or needs none', (controller) => {
    const missing = PARTS.filter((part) => !hasPart(controller, part));
    expect(missing).toEqual(Object.keys(WITHOUT[controller] ?? {}));
  });

  it('write in execute, status and controller only', () => {
    const writers = paths.filter((path) => WRITE.test(sources.get(path)?.text ?? ''));
    expect(writers.length).toBeGreaterThan(controllers.length);
    expect(writers.filter((path) => !isIn(path, ['execute', 'status', 'controller']))).toEqual([]);
  });

  const plans = paths.filter((path) => isIn(path, ['plan']));

  it.each(plans)('%s reads no cluster and no clock, and imports no part that does', (path) => {
    const reached = [...reachableFrom([path], sources)];
    expect(reached.filter((each) => isIn(each, ['observe', 'execute', 'controller']))).toEqual([]);
    const imports = reached.flatMap((each) => (each.startsWith('src/controllers/') ? importsIn(each) : []));
    expect(imports.filter((target) => SHELL.test(target))).toEqual([]);
  });
});

/** Types included: a planner that is handed a client is not pure. */
function importsIn(path: string): readonly string[] {
  return sources.get(path)?.imports.map(({ target }) => target) ?? [];
}
