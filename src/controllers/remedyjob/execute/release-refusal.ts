/**
 * Finds what forbids to release a step to the agent. The agent may not read pods, so that the job controller reads them immediately before the
 * release. An answer that is not known is not an answer: an error of the API server ends the reconcile without a release.
 */
import type { JobStep } from '../../../api/generated/types.ts';
import { isCordoned } from '../../../api/machine/node-state.ts';
import { stepName } from '../../../api/status/step-records.ts';
import { gpuPodReason } from '../../../kube/drain/gpu-pods.ts';
import { PODS } from '../../../kube/objects/core-kinds.ts';
import { textAt } from '../../../kube/objects/json.ts';
import type { CentralRun } from './steps/central-step.ts';
import { listAll } from './steps/evict-pods.ts';

export interface ReleaseRefusal {
  readonly code: 'NotCordoned' | 'GPUInUse';
  readonly message: string;
}

export async function releaseRefusal(
  step: JobStep,
  { observation: { node, job }, ports, context }: Pick<CentralRun, 'observation' | 'ports' | 'context'>,
): Promise<ReleaseRefusal | undefined> {
  if (stepName(step) !== 'ResetGPU') return undefined;
  if (!isCordoned(node)) {
    const message =
      'the node is not cordoned, so that a pod could start on its GPUs: add Cordon before ResetGPU';
    return { code: 'NotCordoned', message };
  }
  const { name } = job.spec.machine;
  const listed = await listAll({ ports, context }, PODS, { fieldSelector: `spec.nodeName=${name}` });
  const reason = gpuPodReason(listed.filter((pod) => textAt(pod, 'spec', 'nodeName') === name));
  return reason === undefined
    ? undefined
    : { code: 'GPUInUse', message: `${reason} of this node: add Drain before ResetGPU, or end the pod` };
}
