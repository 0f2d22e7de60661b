/** The tokens of GitHub Apps, as sync keeps them. Must not import vitest. */
import type { Clock } from '../../../src/os/clock.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { sendToGitHost } from '../../../src/sync/report/send.ts';
import { createHostTokens, type HostTokens } from '../../../src/sync/report/tokens/host-tokens.ts';
import { createFastClock } from '../fast-clock.ts';

export function testHostTokens(clock: Clock = createFastClock()): HostTokens {
  return createHostTokens({
    clock,
    random: () => 0.5,
    // A host has as long as it needs.
    send: (request, options) => sendToGitHost(request, { ...options, clock: createSystemClock() }),
  });
}
