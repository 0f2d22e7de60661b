/** The watchdog as a unit of the host: it survives the agent, and starts again at boot. Pure. */
import type { UnitDefinition } from '../host/port.ts';
import { AGENT_COMPONENT } from '../layout.ts';
import type { AgentUpgrade } from './slots.ts';

export const WATCHDOG_UNIT = 'kubenode-agent-watchdog';

export function watchdogUnit(argv: readonly string[]): UnitDefinition {
  return {
    name: WATCHDOG_UNIT,
    component: AGENT_COMPONENT,
    type: 'Service',
    enabled: true,
    running: true,
    timeoutSeconds: 300,
    exec: { argv: [...argv], env: {}, user: 'root' },
    restart: { policy: 'OnFailure', delaySeconds: 2, maxPerMinute: 20 },
    stop: { signal: 'TERM', timeoutSeconds: 10 },
    existing: false,
    dropIns: [],
  };
}

/** It runs the old program, which has proved itself. */
export function watchdogCommand(
  { launch, from }: Pick<AgentUpgrade, 'launch' | 'from'>,
  host: { readonly type: string; readonly directory: string },
): readonly string[] {
  const place = host.type === 'sandbox' ? ['--directory', host.directory] : [];
  return [...launch.runtime, from, 'agent', 'watchdog', '--host', host.type, ...place];
}
