/** Waits for what a fleet of real nodes does, and collects what is known of it where it does not happen. */
import { MACHINE_COMPONENT_SETS, MACHINE_SETS, MACHINES } from '../../src/api/generated/resources.ts';
import type { Machine } from '../../src/api/generated/types.ts';
import { ANNOTATION_CONFIRM_DELETE } from '../../src/api/names.ts';
import type { Client } from '../../src/kube/client/client.ts';
import { eventually } from '../support/eventually.ts';
import type { TestNode } from '../support/node-kit.ts';
import type { Journal } from './journal.ts';

export interface ObservedFleet {
  readonly client: Client;
  readonly nodes: readonly TestNode[];
  readonly journal: Pick<Journal, 'lines'>;
}

const WITHIN_MS = 600_000;
/** For expect.poll where a question costs programs on nodes or several requests. */
export const SELDOM = { interval: 500 };

/** If it does not happen, the error has what happened until then, the status of every object, and the logs of the nodes. */
export async function untilFleet(
  fleet: ObservedFleet,
  otherwise: string,
  isSo: () => Promise<boolean>,
): Promise<void> {
  await eventually(async () => (await isSo()) || undefined, otherwise, WITHIN_MS).catch(
    async (error: unknown) => {
      throw new Error(`${String(error)}\n${await reportOf(fleet)}`, { cause: error });
    },
  );
}

async function reportOf({ client, nodes, journal }: ObservedFleet): Promise<string> {
  const kinds = [MACHINES, MACHINE_COMPONENT_SETS, MACHINE_SETS];
  const lists = await Promise.all(kinds.map((kind) => client.list(kind)));
  const states = lists.flatMap(({ items }) =>
    items.map(({ metadata, status }) => ({ name: metadata.name, status })),
  );
  const units = ['kubenode-agent', 'kubelet'].map((each) => `--unit=${each}`);
  const logs = await Promise.all(
    nodes.map((node) => node.run('journalctl', '--no-pager', '--lines=150', ...units)),
  );
  const found = JSON.stringify([journal.lines(), states], undefined, 1);
  return [found, ...logs.map(({ stdout }) => stdout)].join('\n');
}

export async function readMachine(client: Client, name: string): Promise<Machine> {
  return await client.get<Machine>(MACHINES, { name });
}

/** A person deletes the Machine, with the confirmation that the policy asks for. */
export async function deleteMachineOf(
  { client }: Pick<ObservedFleet, 'client'>,
  name: string,
): Promise<void> {
  const { uid = '' } = (await readMachine(client, name)).metadata;
  const annotations = { [ANNOTATION_CONFIRM_DELETE]: uid };
  await client.patch(MACHINES, { name }, { type: 'merge', body: { metadata: { annotations } } });
  await client.delete(MACHINES, { name }, { uid });
}

export async function namesOfMachines(client: Client): Promise<readonly string[]> {
  return (await client.list(MACHINES)).items.map(({ metadata }) => metadata.name);
}
