/** Lists what changed between two observations of a rollout, a line each: for logs and pipes. Pure. */
import { printableLine } from '../../../../kube/objects/printable.ts';
import { batchPlace } from '../../../../views/rollout/show.ts';
import type { RolloutView } from '../../../../views/rollout/view.ts';
import { formatShare } from '../../../../views/text/counts.ts';

/** Lists the changes of a rollout since `before`; without it, its current state. Nothing when only ages or machines in work changed. */
export function changeLines(before: RolloutView | undefined, after: RolloutView): readonly string[] {
  return [
    ...(sameLine(before, after, stateLine) ? [] : [stateLine(after)]),
    ...(sameLine(before, after, batchLine) ? [] : [batchLine(after)]),
    ...newFailures(before, after),
  ]
    .filter((line) => line !== '')
    .map((line) => `${after.set}: ${printableLine(line)}`);
}

type LineOf = (view: RolloutView) => string;

function sameLine(before: RolloutView | undefined, after: RolloutView, lineOf: LineOf): boolean {
  return before !== undefined && lineOf(before) === lineOf(after);
}

function stateLine({ phase, to, versions, waiting, outcome, unblock }: RolloutView): string {
  const what = to === undefined ? '' : ` ${versions}`;
  const why = waiting ? `${waiting.reason}: ${waiting.message ?? ''}` : outcome.because;
  const next = outcome.state === 'Running' || unblock === '' ? '' : `. Next: ${unblock}`;
  return `${phase}${what}: ${why}${next}`;
}

function batchLine({ batch, counts }: RolloutView): string {
  if (!batch) return '';
  const { size, updated, failed } = batch;
  const total = `${formatShare(counts.updated, counts.selected, 'machine')} in all`;
  return `batch ${batchPlace(batch)}: ${updated} of ${size}${failed > 0 ? `, ${failed} failed` : ''}; ${total}`;
}

function newFailures(before: RolloutView | undefined, { failed }: RolloutView): readonly string[] {
  const known = new Set(before?.failed.map(({ name }) => name));
  return failed
    .filter(({ name }) => !known.has(name))
    .map(({ name, component, code, message }) => {
      const what = [component, code].filter(Boolean).join(' ');
      return `machine ${name} failed: ${[what, message].filter(Boolean).join(': ') || 'no error is reported'}`;
    });
}
