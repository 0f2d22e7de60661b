/** Checks the target of a rule: an empty selector must never select everything. */
import { isRecord, listAt, valueAt } from '../../kube/objects/json.ts';
import { type ReportProblem, readObject } from '../problems.ts';

export function checkTarget(report: ReportProblem, path: string, written: unknown): void {
  const target = readObject(report, path, written);
  if (!target) return;
  checkSelector(report, `${path}.nodeSelector`, valueAt(target, 'nodeSelector'));
  const exclude = valueAt(target, 'exclude');
  if (exclude === undefined || exclude === null) return;
  checkSelector(report, `${path}.exclude`, exclude);
  if (valueAt(exclude, 'all') === true) {
    report(`${path}.exclude`, 'excludes every node: specify labels, or omit exclude');
  }
}

function checkSelector(report: ReportProblem, path: string, written: unknown): undefined {
  const selector = readObject(report, path, written);
  if (!selector) return undefined;
  const all = valueAt(selector, 'all') === true;
  const labels = valueAt(selector, 'matchLabels');
  const some =
    (isRecord(labels) && Object.keys(labels).length > 0) || listAt(selector, 'matchExpressions').length > 0;
  if (all && some) return report(path, 'combines all: true with labels: omit one of them');
  if (all || some) return undefined;
  return report(path, 'is empty and selects nothing: specify labels, or all: true for every node');
}
