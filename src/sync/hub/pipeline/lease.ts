/** The Lease that the process which syncs a Pipeline holds. */
import { NAMESPACE } from '../../../api/names.ts';

export function pipelineLease(pipeline: string): { readonly name: string; readonly namespace: string } {
  return { name: `pipeline-${pipeline}`, namespace: NAMESPACE };
}
