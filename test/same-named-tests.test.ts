/** Each file of src that decides something is tested by a file of the same name in the mirror folder. */
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { splitSource } from '../lint/words/source-text.ts';
import { readSources, type SourceFile } from './support/source.ts';

/** Fewer branches are wiring, or a table that its users test. */
const MIN_BRANCHES = 5;
// `name?(…)` declares an optional method.
const BRANCH = /\bif\b|\bswitch\b|(?<!\?)\?(?![.?:()])|&&|\|\|/g;
const EXPORTED_FUNCTION = /^export (?:async )?function|^export class|^export const \w+ = (?:async )?\(/m;
/** Shells run the decisions of others: the tests of those, and cluster tests, cover them. */
const SHELL = /Date\.now|new Date\(\)|Math\.random|process\.|\bawait\b|\basync\b/;

/** Files without such a test, each with the test that covers it instead. Shrinks only. */
const COVERED_BY: Record<string, string> = {
  'src/controllers/remedy/case/limit-wait.ts': 'test/controllers/remedy/plan.test.ts',
  'src/sim/machines/judge/rule-versions.ts': 'test/sim/simulate.test.ts',
  'src/sim/fleet/cluster.ts': 'test/sim/fleet/simulate-fleet-limits.test.ts',
  'src/sim/fleet/judge.ts': 'test/sim/fleet/simulate-fleet-limits.test.ts',
  'src/api/generate/validation-schema.ts': 'test/api/generated.test.ts',
  'src/api/generate/validator.ts': 'test/api/generated.test.ts',
  'src/api/steps/input.ts': 'test/api/steps/steps.test.ts',
  'src/api/validation/messages.ts': 'test/api/validation/validate.test.ts',
  'src/api/validation/nulls.ts': 'test/api/validation/validate.test.ts',
  'src/api/validation/path.ts': 'test/api/validation/validate.test.ts',
  'src/cli/checks/field-path.ts': 'test/cli/commands/validate.test.ts',
  'src/cli/checks/crds.ts': 'test/cli/checks/crd-fields.test.ts',
  'src/demo/template/scaffold.ts': 'test/cli/commands/init.test.ts',
  'src/kube/controller/views.ts': 'test/kube/controller/run.test.ts',
  'src/kube/transport/https.ts': 'test/kube/transport/transport.test.ts',
  'src/rules/compile/leaf.ts': 'test/rules/compile.test.ts',
  'src/rules/compile/max-age.ts': 'test/rules/compile.test.ts',
  'src/rules/compile/params.ts': 'test/rules/compile.test.ts',
  'src/rules/compile/target.ts': 'test/rules/compile.test.ts',
  'src/rules/compile/test-facts.ts': 'test/rules/compile.test.ts',
  'src/rules/compile/tests.ts': 'test/rules/compile.test.ts',
  'src/rules/compile/tree.ts': 'test/rules/compile.test.ts',
  'src/rules/compile/value.ts': 'test/rules/compile.test.ts',
  'src/rules/problems.ts': 'test/rules/compile.test.ts',
  'src/views/status/hub-objects.ts': 'test/cli/fleet/hub-objects.test.ts',
  'src/sync/preview/text.ts': 'test/sync/preview/preview.test.ts',
  'src/sync/render/harness/source-location.ts': 'test/sync/render/renderer.test.ts',
};

// Components of the page (.tsx) are tested where they run, in a browser: test/cluster/console. What they decide is in src/console/state.
const files = [...readSources('src').values()].filter(
  ({ path }) => !/\/(generated|templates)\/|\.tsx$/.test(path),
);
const deciding = files.filter(decides);

describe('a file that decides something', () => {
  it.each(deciding.map(({ path }) => path))('has a test of its name: %s', (path) => {
    expect(existsSync(testOf(path)) || path in COVERED_BY).toBe(true);
  });

  it.each(Object.entries(COVERED_BY))(
    'is listed as an exception only if it needs to be: %s',
    (path, test) => {
      expect(deciding.map((file) => file.path)).toContain(path);
      expect(existsSync(testOf(path))).toBe(false);
      expect(existsSync(test)).toBe(true);
    },
  );
});

describe('decides', () => {
  it.each([
    ['export function f(a: A): B {\n  if (a) return b;\n}', false],
    ['export function f(a: A): B {\n  if (a && b || c) return d ? e : g;\n  return h ?? i;\n}', false],
    ['export function f(a: A): B {\n  if (a && b || c && !d) return e ? g : h;\n}', true],
    ['export async function f(a: A): B {\n  if (a && b || c && !d) return e ? g : h;\n}', false],
    ['// if if if if if\nexport function f(a?: A): B {\n  return a?.b;\n}', false],
    ['export const TABLE = a && b && c && d && e && f;', false],
  ])('%j: %s', (text, expected) => {
    expect(decides({ path: 'src/a.ts', text, imports: [] })).toBe(expected);
  });
});

/** Exports a function, has branches, and has no effects. */
function decides({ text }: SourceFile): boolean {
  const code = splitSource(text)
    .map((part) => (part.kind === 'code' ? part.text : ' '))
    .join('');
  const branches = code.match(BRANCH)?.length ?? 0;
  return EXPORTED_FUNCTION.test(code) && branches >= MIN_BRANCHES && !SHELL.test(code);
}

function testOf(path: string): string {
  return path.replace(/^src\//, 'test/').replace(/\.ts$/, '.test.ts');
}
