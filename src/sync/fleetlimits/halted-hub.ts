/** Shows promotion every Pipeline as halted while a FleetPolicy stops all clusters: no commit begins anywhere, not even a revert. */
import type { FleetPolicy, Pipeline } from '../../api/generated/types.ts';
import { type FleetHalt, isEngaged } from '../../api/status/pauses.ts';
import type { HubStore } from '../promote/ports.ts';

type Promoting = Pick<HubStore, 'pipeline' | 'pipelines'>;

/** `stop` returns the policy that stops every cluster, if there is one. */
export function haltedByFleet<Hub extends Promoting>(hub: Hub, stop: () => FleetPolicy | undefined): Hub {
  const halted = (pipeline: Pipeline): Pipeline => {
    const policy = stop();
    return policy ? { ...pipeline, spec: { ...pipeline.spec, halt: haltOf(policy) } } : pipeline;
  };
  return {
    ...hub,
    pipeline: async (name) => {
      const found = await hub.pipeline(name);
      return found && halted(found);
    },
    pipelines: async () => (await hub.pipelines()).map(halted),
  };
}

function haltOf({ metadata, spec: { killSwitch } }: FleetPolicy): FleetHalt {
  const { by = 'unknown', reason = 'no reason given' } = killSwitch;
  return {
    by: `${by} (FleetPolicy ${metadata.name})`,
    reason,
    since: metadata.creationTimestamp ?? '',
    resume: 'kubenode fleet resume',
  };
}

/** Finds the policy that stops rollouts in every cluster now. */
export function stopOfFleet(policies: readonly FleetPolicy[], now: Date): FleetPolicy | undefined {
  return policies.find(
    ({ spec: { clusterSelector, killSwitch } }) =>
      clusterSelector.all && killSwitch.scope !== 'Remedy' && isEngaged(killSwitch, now),
  );
}
