/** vitest's globalSetup of the project with real nodes: what its files share, prepared before they run side by side, without what a killed run left. */
import { nodeBase } from './base.ts';
import { removeStaleBridges } from './bridge.ts';
import { removeStaleCgroups } from './cgroups.ts';
import { whyNoNodes } from './needs.ts';
import { mountNspawnState, unmountNspawnState } from './nspawn-state.ts';

export async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (whyNoNodes()) return undefined;
  await removeStaleCgroups();
  await removeStaleBridges();
  await nodeBase();
  await mountNspawnState();
  return unmountNspawnState;
}
