/**
 * Plans how our own controllers of a control plane get another image: the one that the driver has for them now. It is a change of its own, with
 * the gates and the rollback of every other one, and begins only while nothing else is changed or waits to be. Pure.
 */
import type { Cluster } from '../../../../api/generated/types.ts';
import { digestOf } from '../../../../kube/objects/digest.ts';
import { OWN_CONTROLLERS, type SettledPlane } from '../../drivers/driver.ts';
import { memberRuns } from '../../drivers/runs.ts';
import type { ControllersElsewhere, HostingAct, HostingInput, HostingWait, Upgrade } from '../input.ts';
import { wait, withHint } from '../wait.ts';
import { differs } from './members.ts';

type Input = Pick<HostingInput, 'plane'>;

/** Returns the image that they are to run. Undefined: the driver does not change them, or cannot tell now. */
export function desiredControllers({ plane: { programs } }: Input): string | undefined {
  return 'versions' in programs ? programs.controllers : undefined;
}

/** Returns what differs: `kubenode-controllers run …, not …`. Undefined: nothing. */
export function controllersDifference({ plane }: Input): string | undefined {
  const from = plane.settled?.controllers;
  const to = desiredControllers({ plane });
  if (from === undefined || to === undefined || from === to) return undefined;
  return `${OWN_CONTROLLERS} run ${from}, not ${to}`;
}

/** Identifies the change to an image, also where it was taken back. */
export function controllersDigest(image: string): string {
  return digestOf({ controllers: image });
}

/** Returns the change that is due. Also one whose record was lost, which the members still show. */
export function controllersChange(input: HostingInput, settled: SettledPlane): Upgrade | undefined {
  const image = desiredControllers(input);
  if (image === undefined || settled.controllers === undefined) return undefined;
  const runs = memberRuns({ ...settled, controllers: image });
  if (image === settled.controllers && !differs(input, OWN_CONTROLLERS, runs)) return undefined;
  const { retryToken } = input.hosted;
  const { version } = settled;
  return {
    from: version,
    to: version,
    digest: controllersDigest(image),
    controllers: image,
    ...(retryToken === undefined ? {} : { retryToken }),
  };
}

/** Reads from the other Clusters of a hub what became of their controllers. */
export function controllersElsewhere(name: string, clusters: readonly Cluster[]): ControllersElsewhere {
  const others = clusters
    .filter(({ metadata, spec }) => metadata.name !== name && spec.hosted)
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  return {
    changing: others.flatMap(({ metadata, status }) =>
      status?.hosted?.upgrade?.controllers === undefined ? [] : [metadata.name],
    ),
    takenBack: others.flatMap(({ metadata, status }) => {
      const digest = status?.hosted?.rolledBack?.digest;
      return digest === undefined ? [] : [{ cluster: metadata.name, digest }];
    }),
  };
}

/**
 * Returns why the change does not begin yet: an image reaches one control plane after the other, and none while another one took it back. An
 * image that does not work everywhere must not reach every cluster at once.
 */
export function controllersHeld(input: Pick<HostingInput, 'plane' | 'elsewhere'>): HostingWait | undefined {
  const image = desiredControllers(input);
  if (image === undefined || controllersDifference(input) === undefined) return undefined;
  const { changing = [], takenBack = [] } = input.elsewhere ?? {};
  const failed = takenBack.find(({ digest }) => digest === controllersDigest(image));
  if (failed) {
    const message = `Cluster ${failed.cluster} took ${image} back`;
    const hint = 'fix the cause there, and change its spec.hosted.retryToken, or give hosting another image';
    return wait('RolledBackElsewhere', withHint(message, hint), ['Cluster', failed.cluster]);
  }
  const [first] = changing;
  return first === undefined ? undefined : waitForTurn(first);
}

/** Tells whether the act begins a change of our controllers: nothing is disturbed yet. */
export function beginsControllers(act: HostingAct | undefined, { status }: Cluster): boolean {
  const isNew = status?.hosted?.upgrade === undefined;
  return isNew && act?.type === 'RecordStep' && act.upgrade.controllers !== undefined;
}

export function waitForTurn(first: string): HostingWait {
  const message = `our controllers are changed in one control plane after the other, now in Cluster ${first}`;
  return wait('ControllersChanging', message, ['Cluster', first]);
}
