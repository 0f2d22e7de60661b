import { type StepExecutor, succeededStep } from './executor.ts';

/** Usually the shutdown ends this process first. */
const POLL_MS = 1000;
/** The share of the time of the step after which the kernel reboots a host whose shutdown has not ended. */
const SYSRQ_SHARE = 0.25;

export const rebootStep: StepExecutor<'Reboot'> = {
  async problem({ host }, { via }) {
    if (via.includes('Agent')) return undefined;
    if (via.includes('SysRq') && host.node.forceReboot) return undefined;
    return { code: 'NotAllowed', message: `no way to reboot is one of this agent: ${via.join(', ')}` };
  },
  before: ({ host }) => host.node.bootId(),
  async execute({ host: { node }, clock }, { via }, { before, timeoutMs, signal }) {
    // A second request could hit the next boot. One that failed, or that ended with this process, may still be carried out.
    if ((await node.bootId()) === before) {
      const forceMs = via.includes('Agent') ? timeoutMs * SYSRQ_SHARE : 0;
      // Arranged first: the shutdown ends this process.
      if (via.includes('SysRq')) await node.forceReboot?.(forceMs).catch(() => undefined);
      if (via.includes('Agent')) await node.reboot().catch(() => undefined);
    }
    while ((await node.bootId()) === before) await clock.sleep(POLL_MS, signal);
    return succeededStep('the boot id has changed');
  },
  async observe({ host }, { before }) {
    if ((await host.node.bootId()) !== before) return { happened: 'Yes', message: 'the boot id has changed' };
    // It may have been requested, and may still come.
    return {
      happened: 'Unknown',
      message: 'the boot id has not changed: whether a reboot will come is not known',
    };
  },
};
