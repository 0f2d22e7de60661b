/** Reads the machines that the plan of a set is made from: out of the views, or its own from the API server. */
import { DEFENDER_LEDGERS, MACHINES } from '../../api/generated/resources.ts';
import type { DefenderLedger, Machine, MachineSet } from '../../api/generated/types.ts';
import { isInFlight } from '../../api/grants.ts';
import { LABEL_MACHINESET, LEDGER } from '../../api/names.ts';
import type { Client } from '../../kube/client/client.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { NODES } from '../../kube/objects/core-kinds.ts';
import { listClaimedNames } from '../../providers/ssh/pool/claimed-names.ts';
import type { MachineSetInput } from './plan.ts';

export function observeMachineSet(set: MachineSet, context: ReconcileContext): MachineSetInput {
  return inputOf(set, context.view<Machine>(MACHINES).list(), context);
}

/** The view may not show a write whose answer was lost: one machine more would be created, or deleted. */
export async function listMachineSet(
  set: MachineSet,
  client: Pick<Client, 'pages'>,
  context: ReconcileContext,
): Promise<MachineSetInput> {
  const own = await listMachines(set, client, context);
  const found = new Set(own.map(({ metadata }) => metadata.name));
  const observed = context.view<Machine>(MACHINES).list();
  const others = observed.filter((machine) => !found.has(machine.metadata.name) && !isLabeled(machine, set));
  // One that is deleted, and still in the view, cannot be created yet.
  const names = observed.map(({ metadata }) => metadata.name);
  const isPooled = set.spec.template.infra.provider === 'ssh';
  const claimed = isPooled ? await listClaimedNames(client, context.signal) : [];
  return {
    ...inputOf(set, [...own, ...others], context),
    taken: [...names, ...claimed, ...granted(context)],
  };
}

/** Returns the names with a grant in work: that of a job that verifies the replacement is not for a new machine of the old name. */
function granted(context: ReconcileContext): readonly string[] {
  const { grants = {} } = context.view<DefenderLedger>(DEFENDER_LEDGERS).get(LEDGER)?.spec ?? {};
  return Object.keys(grants).filter((name) => {
    const entry = grants[name];
    return entry !== undefined && isInFlight(entry);
  });
}

async function listMachines(
  { metadata: { name } }: MachineSet,
  client: Pick<Client, 'pages'>,
  { signal }: ReconcileContext,
): Promise<readonly Machine[]> {
  const machines: Machine[] = [];
  const options = { labelSelector: `${LABEL_MACHINESET}=${name}`, signal };
  for await (const { items } of client.pages<Machine>(MACHINES, options)) machines.push(...items);
  return machines;
}

function isLabeled({ metadata }: Machine, set: MachineSet): boolean {
  return metadata.labels?.[LABEL_MACHINESET] === set.metadata.name;
}

function inputOf(set: MachineSet, machines: readonly Machine[], context: ReconcileContext): MachineSetInput {
  const nodes = context.view(NODES);
  return {
    set,
    machines: machines.map((machine) => ({ machine, node: nodes.get(machine.metadata.name) })),
    now: context.clock.now(),
  };
}
