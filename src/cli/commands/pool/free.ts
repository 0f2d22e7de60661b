/** `kubenode pool free`: gives a host back to its pool that a person has cleaned. */
import { Command } from 'commander';
import { byCode } from '../../../kube/objects/digest.ts';
import { type StoredClaim, unreadableText } from '../../../providers/ssh/pool/claim.ts';
import { hostKeyText } from '../../../providers/ssh/pool/host.ts';
import { freeHost } from '../../../providers/ssh/pool/release-host.ts';
import { type ClaimList, createClaimStore } from '../../../providers/ssh/pool/store.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { CliError, EXIT } from '../../errors.ts';
import { DRY_RUN, type WriteFlags } from '../../fleet/person-write.ts';
import { withCluster } from '../../fleet/read.ts';
import type { Io } from '../../io.ts';

const HELP = `
Only for a host that "kubenode pool list" shows as Unclean: its Machine was deleted, and the host could not be reached or cleaned in time. Clean it
first, with "kubenode-agent release" on the host, or reinstall it: nothing looks at the host here. The next Machine that finds
something of the old one on it reports HostInUse.

Examples:
  kubenode pool free 10.4.7.3
  kubenode pool free 10.4.7.3:2022 --dry-run`;

export function createPoolFreeCommand(io: Io): Command {
  const command = new Command('free')
    .description('give a host back to its pool that was cleaned by hand')
    .argument('<host>', 'its address, with its port unless that is 22')
    .option(...DRY_RUN)
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action((host: string, flags: ConnectionFlags & WriteFlags) =>
    withCluster(io, flags, async (client) => {
      const store = createClaimStore(client);
      const { claim } = uncleanClaim(host, await store.list(io.signal));
      const { machineUid } = claim.tags;
      if (flags.dryRun !== true) await freeHost(machineUid, { store, clock: io.clock }, io.signal);
      io.out(`${host} is free${flags.dryRun === true ? ' (dry run: nothing was written)' : ''}\n`);
    }),
  );
}

export function uncleanClaim(
  host: string,
  { claims, unreadable }: Pick<ClaimList, 'claims' | 'unreadable'>,
): StoredClaim {
  const key = /:\d+$/.test(host) && !/^[\da-f:]+$/i.test(host) ? host : `${host}:22`;
  const held = claims.filter(({ claim }) => claim.host && claim.state !== 'Deleted');
  const found = held.find(({ claim }) => claim.host && hostKeyText(claim.host) === key.toLowerCase());
  if (found?.claim.state === 'Unclean') return found;
  if (found) {
    throw new CliError(`${host} belongs to Machine ${found.claim.machine}`, {
      hint: 'delete the Machine: its host is cleaned and given back',
      exitCode: EXIT.badInput,
    });
  }
  const damaged = unreadable.find((each) => each.host === key.toLowerCase());
  if (damaged) {
    throw new CliError(`it is not known who has ${host}`, {
      hint: unreadableText(damaged),
      exitCode: EXIT.badInput,
    });
  }
  const unclean = held.filter(({ claim }) => claim.state === 'Unclean');
  const names = unclean
    .flatMap(({ claim }) => (claim.host ? [hostKeyText(claim.host)] : []))
    .toSorted(byCode);
  throw new CliError(`no Machine has left ${host} behind`, {
    hint:
      names.length > 0
        ? `use one of: ${names.join(', ')}`
        : 'no host waits for a person (kubenode pool list)',
    exitCode: EXIT.badInput,
  });
}
