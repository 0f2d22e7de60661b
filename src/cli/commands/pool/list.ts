/** `kubenode pool list`: the hosts of pools, and who has which. */
import { Command } from 'commander';
import { LABEL_HOST_CLAIM, LABEL_HOST_POOL, NAMESPACE_HOSTS } from '../../../api/names.ts';
import { LEASES } from '../../../kube/leader/record.ts';
import { CONFIG_MAPS } from '../../../kube/objects/core-kinds.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { collect, withCluster } from '../../fleet/read.ts';
import type { Io } from '../../io.ts';
import { createOutputOption, type OutputFormat, printResult, printWarnings } from '../../output.ts';
import { type PoolRow, poolRows } from './rows.ts';

const HELP = `
STATE is Free; Claiming or Claimed, by a Machine; Releasing, while it is cleaned; or Unclean: its Machine was deleted, the host could not be
cleaned in time, and no Machine gets it until "kubenode pool free". Unknown: the record of who has it cannot be read. A host in no pool any more stays with
its Machine. What cannot be read is a warning. Reads ConfigMaps and Leases in ${NAMESPACE_HOSTS}.

Examples:
  kubenode pool list
  kubenode pool list rack7 -o json`;

interface PoolListFlags extends ConnectionFlags {
  readonly output: OutputFormat;
}

export function createPoolListCommand(io: Io): Command {
  const command = new Command('list')
    .description('list the hosts of pools, and the Machine that has each')
    .argument('[pool]', 'only this pool')
    .addOption(createOutputOption())
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action(async (pool: string | undefined, flags: PoolListFlags) => {
    const selector = pool === undefined ? LABEL_HOST_POOL : `${LABEL_HOST_POOL}=${pool}`;
    const { hosts, problems } = await withCluster(io, flags, async (client) => {
      const within = { namespace: NAMESPACE_HOSTS, signal: io.signal };
      const pools = await collect(
        client,
        CONFIG_MAPS,
        { ...within, labelSelector: selector },
        (each) => each,
      );
      const leases = await collect(
        client,
        LEASES,
        { ...within, labelSelector: `${LABEL_HOST_CLAIM}=Machine` },
        (each) => each,
      );
      return poolRows(pools, leases);
    });
    const shown = hosts.filter((row) => pool === undefined || row.pool === pool);
    printWarnings(io, problems);
    printResult(io, flags.output, { hosts: shown }, () => ({
      columns: ['pool', 'host', 'zone', 'labels', 'state', 'machine', 'since'],
      rows: shown.map(cellsOf),
      empty: 'no pool has a host: declare one with HostPool (docs/guides/host-pools.md)',
    }));
  });
}

function cellsOf({ pool, host, zone, labels, state, machine, since }: PoolRow): readonly string[] {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return [pool ?? '(none)', host, zone ?? '-', pairs.join(',') || '-', state, machine ?? '-', since ?? '-'];
}
