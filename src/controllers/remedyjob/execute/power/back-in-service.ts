/** Removes the taint that releases pods and volumes, immediately before a machine is switched on, or when it was read On. */
import { unlessMissing } from '../../../../kube/client/errors.ts';
import { NODES } from '../../../../kube/objects/core-kinds.ts';
import { planBackInService } from '../../power/out-of-service.ts';
import type { CentralRun } from '../steps/central-step.ts';

interface ServiceParts extends Pick<CentralRun, 'observation' | 'context'> {
  readonly ports: Pick<CentralRun['ports'], 'client'>;
}

/**
 * Tells whether the Node had our taint. The Node is read from the API server: the view of a process that has taken over may be behind the
 * write of the one before, and the machine would be switched on with the taint.
 */
export async function removeOutOfService({ observation, ports, context }: ServiceParts): Promise<boolean> {
  const { machine, grant } = observation.job.spec;
  const { signal } = context;
  const node = await unlessMissing(ports.client.get(NODES, { name: machine.name }, { signal }));
  const operations = node ? planBackInService(node, grant.id) : [];
  if (!node || operations.length === 0) return false;
  await context.patch(NODES, node, operations);
  return true;
}
