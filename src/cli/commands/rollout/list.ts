/** `kubenode rollout list`: one line for each component set. */
import { Command } from 'commander';
import { MACHINE_COMPONENT_SETS } from '../../../api/generated/resources.ts';
import type { MachineComponentSet } from '../../../api/generated/types.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { clusterColumn, type InCluster } from '../../../views/fleet/cluster-column.ts';
import { STATES } from '../../../views/rollout/show.ts';
import { type RolloutView, viewRollout } from '../../../views/rollout/view.ts';
import { formatAge } from '../../../views/text/age.ts';
import { fitTable } from '../../../views/text/wrap.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { collect } from '../../fleet/read.ts';
import { itemsOf, readFleet } from '../../fleet/read-fleet.ts';
import type { Io } from '../../io.ts';
import { createOutputOption, type OutputFormat, printResult } from '../../output.ts';

export function createRolloutListCommand(io: Io): Command {
  const command = new Command('list')
    .description('list the rollouts: where each component set is, why, and since when')
    .addOption(createOutputOption())
    .addHelpText(
      'after',
      '\nOn a hub those of all its clusters. A cluster that does not answer is named, and the exit code is 69 then.',
    );
  return addConnectionOptions(command).action(
    async (flags: ConnectionFlags & { readonly output: OutputFormat }) => {
      const fleet = await readFleet(io, flags, (client, signal) =>
        collect(client, MACHINE_COMPONENT_SETS, { signal }, (set: MachineComponentSet) =>
          viewRollout(set, []),
        ),
      );
      const views = itemsOf(fleet);
      if (flags.output === 'table') {
        const size = { isFleet: fleet.isFleet, ...optional('columns', io.screen()?.columns) };
        io.out(formatRollouts(views, io.clock.now(), size));
      } else printResult(io, flags.output, views, () => ({ columns: [], rows: [] }));
    },
  );
}

interface RolloutsSize {
  readonly columns?: number;
  /** Whether the rollouts are those of several clusters. */
  readonly isFleet?: boolean;
}

/** Those that need somebody first, then those in work, each by name. */
export function formatRollouts(
  views: readonly (RolloutView & InCluster)[],
  now: Date,
  { columns, isFleet = false }: RolloutsSize = {},
): string {
  const cluster = clusterColumn(isFleet);
  const sorted = views.toSorted((a, b) => ORDER.indexOf(a.outcome.state) - ORDER.indexOf(b.outcome.state));
  return fitTable(
    {
      columns: [...cluster.names, 'set', 'phase', 'since', 'batch', 'updated', 'failed', 'why'],
      rows: sorted.map((view) => [
        ...cluster.cells(view),
        view.set,
        view.phase,
        formatAge(view.since, now),
        batchCell(view),
        `${view.counts.updated}/${view.counts.selected}`,
        String(view.counts.failed),
        whyCell(view),
      ]),
      empty: 'no rollouts: no MachineComponentSet exists',
    },
    columns,
  );
}

const ORDER: readonly RolloutView['outcome']['state'][] = ['Failed', 'NeedsPerson', 'Running', 'Completed'];

function batchCell({ batch, outcome }: RolloutView): string {
  if (!batch || outcome.state === 'Completed') return '-';
  const { index, of } = batch;
  return of === undefined ? String(index + 1) : `${index + 1}/${of}`;
}

function whyCell({ outcome, waiting }: RolloutView): string {
  if (outcome.state === 'Completed') return outcome.isBehind ? outcome.because : '';
  const why = waiting?.message ?? outcome.because;
  return outcome.state === 'Running' ? why : `${STATES[outcome.state]}: ${why}`;
}
