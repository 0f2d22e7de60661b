/**
 * Runs `kubenode why rollout`: explains what a set waits for, each of its machines, counted by reason, and what became of its commit where
 * that failed.
 */
import { MACHINE_COMPONENT_SETS, MACHINES } from '../../../api/generated/resources.ts';
import type { MachineComponentSet } from '../../../api/generated/types.ts';
import { ANNOTATION_COMMIT } from '../../../api/names.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import { ownValue } from '../../../kube/objects/json.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { rolloutOutcome } from '../../../views/rollout/outcome.ts';
import { formatRollout } from '../../../views/rollout/show.ts';
import { viewRollout } from '../../../views/rollout/view.ts';
import { shortCommit } from '../../../views/text/age.ts';
import { COLUMNS, formatField } from '../../../views/text/wrap.ts';
import { CliError } from '../../errors.ts';
import { readHub } from '../../fleet/hub-objects.ts';
import { collect, readNamed } from '../../fleet/read.ts';
import { readNodes, readSetsAndVersions } from '../../fleet/rollout-facts.ts';
import { explainAssignments } from '../../fleet/why/assignments.ts';
import type { Io } from '../../io.ts';
import { type OutputFormat, printResult } from '../../output.ts';
import { countReasons, formatReasons, type MachineReason } from './reasons.ts';
import { explainReverts, formatReverts, type RevertExplanation } from './reverts.ts';

export async function whyRollout(io: Io, client: Client, name: string, output: OutputFormat): Promise<void> {
  const set = await readNamed(client, MACHINE_COMPONENT_SETS, name, io.signal);
  const reasons = countReasons(await machineReasons(io, client, name));
  const view = viewRollout(set, []);
  const commit = set.metadata.annotations?.[ANNOTATION_COMMIT];
  const reverts = await readReverts(client, commit, io.signal);
  if (output !== 'table') {
    const data = { ...view, reasons, ...optional('commit', commit), reverts: reverts ?? [] };
    printResult(io, output, data, () => ({ columns: [], rows: [] }));
    return;
  }
  const columns = io.screen()?.columns ?? COLUMNS;
  io.out(formatRollout(view, io.clock.now(), { columns, listRows: FAILING_ROWS }));
  io.out(formatReasons(reasons, columns));
  io.out(revertText(set, reverts, columns));
}

function revertText(
  set: MachineComponentSet,
  reverts: readonly RevertExplanation[] | undefined,
  columns: number,
): string {
  const text = reverts ? formatReverts(reverts, columns) : elsewhereText(set, columns);
  return text === '' ? '' : `\n${text}`;
}

/** Returns undefined if this cluster is not a hub, or the person may not read one: the hub has the record of each revert. */
async function readReverts(
  client: Client,
  commit: string | undefined,
  signal: AbortSignal,
): Promise<readonly RevertExplanation[] | undefined> {
  if (commit === undefined) return [];
  try {
    const hub = await readHub(client, signal);
    return hub.pipelines.length === 0 ? undefined : explainReverts({ commit, ...hub });
  } catch (error) {
    if (error instanceof CliError || isKubeError(error, 'Forbidden')) return undefined;
    throw error;
  }
}

/** Tells where to ask about a rollout that failed. */
function elsewhereText(set: MachineComponentSet, columns: number): string {
  if (rolloutOutcome(set).state !== 'Failed') return '';
  const id = shortCommit(set.metadata.annotations?.[ANNOTATION_COMMIT] ?? '');
  return formatField('revert', `the hub has it: kubenode why release ${id} --context HUB`, columns);
}

/** The most failing machines that are shown: their errors explain the set, and its machines are counted below. */
const FAILING_ROWS = 5;

/** Reads the machines page by page: of each machine only its reason is kept. */
async function machineReasons(io: Io, client: Client, name: string): Promise<readonly MachineReason[]> {
  const { signal, clock } = io;
  const [{ sets, find, classOf, compatOf, grants }, nodes] = await Promise.all([
    readSetsAndVersions(client, signal),
    readNodes(client, signal),
  ]);
  const found = await collect(client, MACHINES, { signal }, (machine): readonly MachineReason[] => {
    const { name: own } = machine.metadata;
    const context = {
      machine,
      node: nodes.get(own),
      grant: ownValue(grants, own),
      find,
      classOf,
      compatOf,
      now: clock.now(),
    };
    return explainAssignments({ ...context, sets }, name).map((each) => ({ machine: own, ...each }));
  });
  return found.flat();
}
