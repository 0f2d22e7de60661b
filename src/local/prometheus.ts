/**
 * The Prometheus beside a local fleet. It is recognized by the folder of its data, so that one is found, too, whose `kubenode start` was
 * killed.
 */
import { join } from 'node:path';
import type { Clock } from '../os/clock.ts';
import { stopProcess } from '../os/process/child.ts';
import type { ProcessIdentity } from '../os/process/identity.ts';
import { findFleetFolder } from './fleet.ts';
import type { Layout } from './layout.ts';
import { listProcesses } from './processes/observe.ts';

const ADDRESS = '--web.listen-address=';

export function prometheusFlags(
  { prometheus }: Pick<Layout, 'prometheus'>,
  address: string,
): readonly [mark: string, address: string] {
  return [`--storage.tsdb.path=${join(prometheus, 'data')}`, `${ADDRESS}${address}`];
}

/** Undefined if no Prometheus runs beside the fleet in this folder. */
export async function findPrometheusUrl(dir: string): Promise<string | undefined> {
  const layout = await findFleetFolder(dir);
  const [found] = layout ? await findPrometheus(layout) : [];
  const address = found?.command.find((argument) => argument.startsWith(ADDRESS))?.slice(ADDRESS.length);
  return address === undefined ? undefined : `http://${address}/`;
}

/** Ends it. It locks its data, so that another one cannot start before it has ended. */
export async function stopPrometheus(dir: string, clock: Clock): Promise<void> {
  const layout = await findFleetFolder(dir);
  const found = layout ? await findPrometheus(layout) : [];
  await Promise.all(found.map((identity) => stopProcess(identity, clock)));
}

async function findPrometheus(layout: Pick<Layout, 'prometheus'>): Promise<readonly ProcessIdentity[]> {
  const [mark] = prometheusFlags(layout, '');
  return (await listProcesses()).filter(({ command }) => command.includes(mark));
}
