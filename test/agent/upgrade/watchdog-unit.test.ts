import { describe, expect, it } from 'vitest';
import { watchdogCommand } from '../../../src/agent/upgrade/watchdog-unit.ts';

const SYSTEMD = { type: 'systemd', directory: '/' };

describe('watchdogCommand', () => {
  it.each([
    ['with Node.js of the host', ['/usr/bin/node', '--no-opt'], '/usr/bin/node --no-opt /p agent watchdog'],
    ['that has Node.js inside', [], '/p agent watchdog'],
  ])('AGT-43 starts the old program %s', (_, runtime, command) => {
    const launch = { runtime, args: ['run', '--machine', 'n1'] };
    expect(watchdogCommand({ launch, from: '/p' }, SYSTEMD).join(' ')).toBe(`${command} --host systemd`);
  });
});
