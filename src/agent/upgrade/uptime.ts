import { uptime } from 'node:os';

/** Returns the uptime of the machine: the same clock for the agents and the watchdog, which no change of the time moves. */
export function machineUptimeMs(): number {
  return uptime() * 1000;
}
