/** Permits the request that switches a machine off: by a grant that is renewed now, and by what is so now. */
import { unlessMissing } from '../../../../kube/client/errors.ts';
import { NODES } from '../../../../kube/objects/core-kinds.ts';
import type { JobChange } from '../../plan/decision.ts';
import { offForbidden } from '../../power/off-guard.ts';
import { type CentralResult, type CentralRun, stepWaits } from '../steps/central-step.ts';

export type OffPermit =
  | { readonly isPermitted: true; readonly renewed: JobChange }
  | { readonly isPermitted: false; readonly result: CentralResult };

/** A view that is behind the API server has caught up then. */
const LOOK_MS = 1000;

export async function permitOff(run: CentralRun): Promise<OffPermit> {
  const renewal = await run.renew();
  if (!renewal.isGranted) return { isPermitted: false, result: { state: 'Denied', renewal } };
  const renewed = renewal.change;
  const forbidden = await forbiddenNow(run);
  if (forbidden === undefined) return { isPermitted: true, renewed };
  const { now } = run.observation;
  const message = `the machine is not switched off: ${forbidden}`;
  return {
    isPermitted: false,
    result: { ...stepWaits({ reason: 'Power', message }, now, LOOK_MS), renewed },
  };
}

async function forbiddenNow({ ports, node, record, context }: CentralRun): Promise<string | undefined> {
  const { name } = node.metadata;
  const { signal } = context;
  const found = await unlessMissing(ports.client.get(NODES, { name }, { signal }));
  const present = await ports.lookAgain();
  if (!present) return 'the job was deleted';
  return offForbidden({ present, node: found, record });
}
