/** Whether a signal has stopped the main process of a unit. */
import { isSuspended } from '../../os/process/identity.ts';
import type { UnitProcess } from './port.ts';

export async function suspensionOf(pid: number): Promise<Pick<UnitProcess, 'isSuspended'>> {
  return (await isSuspended(pid)) ? { isSuspended: true } : {};
}
