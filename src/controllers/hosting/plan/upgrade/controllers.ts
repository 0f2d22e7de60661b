/**
 * Plans how our own controllers of a control plane get another image: the one that the driver has for them now. It is a change of its own, with
 * the gates and the rollback of every other one, and begins only while nothing else is changed or waits to be. Pure.
 */
import { digestOf } from '../../../../kube/objects/digest.ts';
import { OWN_CONTROLLERS, type SettledPlane } from '../../drivers/driver.ts';
import { memberRuns } from '../../drivers/runs.ts';
import type { HostingInput, Upgrade } from '../input.ts';
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
