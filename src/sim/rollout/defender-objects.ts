/** The policy and the ledger of a simulated cluster, with one limit that every holder shares. */
import { DEFENDER_LEDGERS } from '../../api/generated/resources.ts';
import type { DefenderPolicySpec } from '../../api/generated/types.ts';
import { FLEET_DEFAULT, GROUP, LEDGER } from '../../api/names.ts';
import { EMPTY_LEDGER } from '../../defender/ledger/draft.ts';
import type { SimulatedApi } from '../api-server/simulated-api.ts';
import { simulatedPolicy } from '../policies.ts';

export interface SimulatedDefender {
  readonly machines: number;
  /** Machines that may be out of service together. */
  readonly max: DefenderPolicySpec['concurrency'][number]['max'];
  readonly perMachine?: Partial<DefenderPolicySpec['perMachine']>;
}

export function putDefender(
  api: Pick<SimulatedApi, 'put'>,
  { machines, max, perMachine }: SimulatedDefender,
): void {
  const { spec, ...policy } = simulatedPolicy({ isStopped: false, isFrozen: false, machines });
  const { killSwitch, rates: _, ...rest } = spec;
  api.put({
    ...policy,
    metadata: { name: FLEET_DEFAULT },
    spec: {
      ...rest,
      killSwitch,
      rates: [],
      quiet: [],
      breakers: [],
      approval: [],
      counting: { ...spec.counting, include: ['InFlight'], lingerSeconds: 0 },
      concurrency: [{ name: 'cluster', per: 'Cluster', actions: [], risks: ['Node', 'Machine'], max }],
      perMachine: { ...rest.perMachine, ...perMachine },
      blockers: { ...spec.blockers, promql: [] },
      // Rules that change, and places for Pods, are simulated with the Defender alone: its observer watches no Pods here.
      capacity: { ...spec.capacity, simulateScheduling: false },
      ruleWaves: { waves: ['100%'], soakSeconds: 0, minSuccessPercent: 0 },
      selfDoubt: { ...spec.selfDoubt, massUnknownPercent: 60 },
    },
  });
  api.put({
    apiVersion: `${GROUP}/v1alpha1`,
    kind: DEFENDER_LEDGERS.kind,
    metadata: { name: LEDGER },
    spec: EMPTY_LEDGER,
  });
}
