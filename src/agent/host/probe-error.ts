/** Why a probe over the network got no answer. */
import { systemCode } from '../../os/errors.ts';
import type { ProbeAnswer } from './port.ts';

export function failedProbe(error: Error, signal: AbortSignal): ProbeAnswer {
  return {
    passed: false,
    detail: signal.aborted ? 'no answer in time' : (systemCode(error) ?? error.message),
  };
}
