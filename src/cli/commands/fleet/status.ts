/** `kubenode fleet status` and `why`: limits over clusters, who waits for a share of them, and whom the hub does not reach. */
import { Command } from 'commander';
import { CLUSTERS } from '../../../api/generated/resources.ts';
import type { Cluster } from '../../../api/generated/types.ts';
import { fleetPolicyPhases } from '../../../api/status/phase-tables.ts';
import { explainFleetLimits, formatFleetLimits } from '../../../views/fleet/limits.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { EXIT } from '../../errors.ts';
import { setExitCode } from '../../exit.ts';
import { readNamed, withCluster } from '../../fleet/read.ts';
import { findUnlimited } from '../../fleet/sync-leases.ts';
import type { Io } from '../../io.ts';
import { createOutputOption, type OutputFormat, printResult, printWarnings } from '../../output.ts';
import { readFleetPolicies } from './policies.ts';

const HELP = `
Shows the FleetPolicies of the hub: the phase of each with what it comes from, what failed in several clusters and is held, how much of each
limit the clusters use and may use, which clusters wait for a share and why, and which ones the hub does not reach. Reads objects of the hub
only. Exits with 1 when a policy is not in force, holds something, stops the fleet, or does not reach every cluster, and when no process of
sync hands out allowances: then the last report is shown.`;

type StatusFlags = ConnectionFlags & { readonly output: OutputFormat };

export function createFleetStatusCommand(io: Io): Command {
  const command = new Command('status')
    .description('show the limits over clusters, their use, and who waits')
    .addOption(createOutputOption())
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action((flags: StatusFlags) =>
    withCluster(io, flags, async (client) => {
      const policies = await readFleetPolicies(client, io.signal);
      const now = io.clock.now();
      const unlimited = await findUnlimited(client, policies, { now, flags, signal: io.signal });
      // On stderr, so that -o json stays JSON.
      if (unlimited !== undefined) printWarnings(io, [unlimited]);
      if (flags.output === 'table') io.out(formatFleetLimits(policies, now));
      else printResult(io, flags.output, policies, () => ({ columns: [], rows: [] }));
      const isTroubled = policies.some(
        ({ status }) => fleetPolicyPhases.phaseOf({ ...status }) !== 'InForce',
      );
      if (isTroubled || unlimited !== undefined) setExitCode(io, EXIT.failed);
    }),
  );
}

export function createFleetWhyCommand(io: Io): Command {
  const command = new Command('why')
    .description('show what the acts of a cluster wait for, of the limits over clusters')
    .argument('<cluster>', 'name of the Cluster');
  return addConnectionOptions(command).action((name: string, flags: ConnectionFlags) =>
    withCluster(io, flags, async (client) => {
      const policies = await readFleetPolicies(client, io.signal);
      const cluster = await readNamed<Cluster>(client, CLUSTERS, name, io.signal);
      io.out(explainFleetLimits(policies, cluster, io.clock.now()));
    }),
  );
}
