/**
 * Defines how a repair or a person switches the power of a machine: by the provider of its instance, or by its BMC. Power changes late:
 * a request that was accepted is confirmed by reading the state, and may be repeated.
 */
import type { Machine } from '../api/generated/types.ts';

/** The ways to a power switch, as `with.via` of the steps names them. */
export type PowerWay = 'Provider' | 'BMC';

/** Changing: it is on its way to On or Off. Unknown: the switch answered, and the answer is neither. */
export type PowerState = 'On' | 'Off' | 'Changing' | 'Unknown';

/** The devices that a host can boot from once, as Redfish names them. */
export type BootDevice = 'Pxe' | 'Cd' | 'Hdd';

export interface PowerSwitch {
  readonly way: PowerWay;
  /** Reads the state now, never from a cache. Throws ProviderError when there is no answer. */
  state(signal: AbortSignal): Promise<PowerState>;
  /** Requests the state, and resolves when the request is accepted. To request the state that it has changes nothing. */
  request(wanted: 'On' | 'Off', signal: AbortSignal): Promise<void>;
  /** Sets the device that the next start boots from, and no later one; undefined: takes that back. Absent: the device cannot be chosen. */
  bootOnce?(device: BootDevice | undefined, signal: AbortSignal): Promise<void>;
}

export interface PowerSwitches {
  /** Returns the switch of the machine; or why it has none this way, for people. Sends no request that changes anything. */
  open(machine: Machine, way: PowerWay, signal: AbortSignal): Promise<PowerSwitch | NoPowerSwitch>;
}

export interface NoPowerSwitch {
  readonly because: string;
}
