/** Which nodes a rule is for: an empty selection must never mean everything. */
import { isRecord, listAt, valueAt } from '../../kube/objects/json.ts';
import { type Report, recordAt } from '../problems.ts';

export function checkTarget(report: Report, path: string, written: unknown): void {
  const target = recordAt(report, path, written);
  if (!target) return;
  checkSelector(report, `${path}.nodeSelector`, valueAt(target, 'nodeSelector'));
  const exclude = valueAt(target, 'exclude');
  if (exclude === undefined || exclude === null) return;
  checkSelector(report, `${path}.exclude`, exclude);
  if (valueAt(exclude, 'all') === true) {
    report(
      `${path}.exclude`,
      'leaves out every node, so that the rule is for none: name labels, or leave it out',
    );
  }
}

function checkSelector(report: Report, path: string, written: unknown): undefined {
  const selector = recordAt(report, path, written);
  if (!selector) return undefined;
  const all = valueAt(selector, 'all') === true;
  const labels = valueAt(selector, 'matchLabels');
  const some =
    (isRecord(labels) && Object.keys(labels).length > 0) || listAt(selector, 'matchExpressions').length > 0;
  if (all && some) return report(path, 'says all: true and names labels as well: leave one of them out');
  if (all || some) return undefined;
  return report(path, 'is empty, which selects nothing: name labels, or say all: true for every node');
}
