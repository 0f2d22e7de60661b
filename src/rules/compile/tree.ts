/** A tree of conditions: json-rules-engine's JSON, of which all that is ambiguous or surprising is refused. */
import { isRecord, type JsonRecord, valueAt } from '../../kube/objects/json.ts';
import { leavesOf, type Tree } from '../compiled-rule.ts';
import { guess, kindOf, listIn, type Report } from '../problems.ts';
import { compileLeaf, refuseOtherKeys } from './leaf.ts';

/** As deep as the CRD is written out. */
const MAX_DEPTH = 3;
const MAX_WIDTH = 8;
const MAX_LEAVES = 32;

const FORMS = ['all', 'any', 'fact'] as const;

export function compileTree(report: Report, path: string, written: unknown): Tree | undefined {
  const tree = compileNode(report, path, written, MAX_DEPTH);
  const leaves = tree ? leavesOf(tree).length : 0;
  if (leaves > MAX_LEAVES) {
    return report(
      path,
      `has ${leaves} comparisons, at most ${MAX_LEAVES} are read by people: make two rules`,
    );
  }
  return tree;
}

function compileNode(report: Report, path: string, written: unknown, depth: number): Tree | undefined {
  if (!isRecord(written)) {
    return report(path, `must be an object with all, any or fact, not ${kindOf(written)}`);
  }
  const forms = FORMS.filter((form) => Object.hasOwn(written, form));
  const [form, second] = forms;
  if (form === undefined) return noForm(report, path, written);
  if (second !== undefined) {
    return report(
      path,
      `has ${forms.join(' and ')} side by side, of which the engine would ignore one: nest them`,
    );
  }
  if (form === 'fact') return compileLeaf(report, path, written);
  if (depth === 0) return report(path, `nests deeper than ${MAX_DEPTH}: make it flatter, or two rules`);
  return compileJoin(report, path, written, { form, depth });
}

/** Words of the engine that are none of ours get their own answer; of all others the nearest is guessed. */
function noForm(report: Report, path: string, written: JsonRecord): undefined {
  const keys = Object.keys(written);
  if (keys.some((key) => key === 'not' || key === 'condition')) {
    refuseOtherKeys(report, path, written);
    return undefined;
  }
  const hints = keys.map((key) => guess(key, FORMS));
  return report(path, `must have one of all, any and fact${hints.find((hint) => hint !== '') ?? ''}`);
}

function compileJoin(
  report: Report,
  path: string,
  written: JsonRecord,
  { form, depth }: { readonly form: 'all' | 'any'; readonly depth: number },
): Tree | undefined {
  const at = `${path}.${form}`;
  const items = listIn(report, at, valueAt(written, form));
  refuseOtherKeys(report, path, written, [form]);
  if (!items) return undefined;
  if (items.length === 0) return report(at, 'is empty, which the engine takes for yes: name a condition');
  if (items.length > MAX_WIDTH) return report(at, `must have at most ${MAX_WIDTH} entries: nest them`);
  const good = items.flatMap((item, index) => compileNode(report, `${at}[${index}]`, item, depth - 1) ?? []);
  if (good.length < items.length) return undefined;
  return form === 'all' ? { all: good } : { any: good };
}
