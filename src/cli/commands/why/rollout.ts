/** Runs `kubenode why rollout`: explains what a set waits for, and each of its machines, counted by reason. */
import { MACHINE_COMPONENT_SETS, MACHINES } from '../../../api/generated/resources.ts';
import type { Client } from '../../../kube/client/client.ts';
import { ownValue } from '../../../kube/objects/json.ts';
import { formatRollout } from '../../../views/rollout/show.ts';
import { viewRollout } from '../../../views/rollout/view.ts';
import { COLUMNS } from '../../../views/text/wrap.ts';
import { collect, readNamed } from '../../fleet/read.ts';
import { readNodes, readSetsAndVersions } from '../../fleet/rollout-facts.ts';
import type { Io } from '../../io.ts';
import { type OutputFormat, printResult } from '../../output.ts';
import { explainAssignments } from './assignments.ts';
import { countReasons, formatReasons, type MachineReason } from './reasons.ts';

export async function whyRollout(io: Io, client: Client, name: string, output: OutputFormat): Promise<void> {
  const set = await readNamed(client, MACHINE_COMPONENT_SETS, name, io.signal);
  const reasons = countReasons(await machineReasons(io, client, name));
  const view = viewRollout(set, []);
  if (output !== 'table') {
    printResult(io, output, { ...view, reasons }, () => ({ columns: [], rows: [] }));
    return;
  }
  const columns = io.screen()?.columns ?? COLUMNS;
  io.out(formatRollout(view, io.clock.now(), { columns, listRows: FAILING_ROWS }));
  io.out(formatReasons(reasons, columns));
}

/** The most failing machines that are shown: their errors explain the set, and its machines are counted below. */
const FAILING_ROWS = 5;

/** Reads the machines page by page: of each machine only its reason is kept. */
async function machineReasons(io: Io, client: Client, name: string): Promise<readonly MachineReason[]> {
  const { signal, clock } = io;
  const [{ sets, find, classOf, grants }, nodes] = await Promise.all([
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
      now: clock.now(),
    };
    return explainAssignments({ ...context, sets }, name).map((each) => ({ machine: own, ...each }));
  });
  return found.flat();
}
