import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import {
  type ClaimSituation,
  claimFleet,
  decideClaim,
  isClaimedHere,
  releaseClaim,
  releaseEndedClaim,
} from '../../src/local/claim.ts';
import { createLayout } from '../../src/local/layout.ts';
import { tempFolder } from '../support/temp.ts';

it.each<[what: string, situation: ClaimSituation, decision: string]>([
  ['a fleet that does not run', { claimant: 'None', hasProcesses: false }, 'Claim'],
  ['a fleet of local up', { claimant: 'None', hasProcesses: true }, 'Leave'],
  ['a fleet whose start was killed', { claimant: 'Ended', hasProcesses: true }, 'Claim'],
  [
    'a fleet whose start was killed before its first process',
    { claimant: 'Ended', hasProcesses: false },
    'Claim',
  ],
  ['a fleet that another start runs', { claimant: 'Running', hasProcesses: true }, 'Refuse'],
  ['a fleet that another start begins', { claimant: 'Running', hasProcesses: false }, 'Refuse'],
])('FST-10 decides which start stops %s', (_, situation, decision) => {
  expect(decideClaim(situation)).toBe(decision);
});

it('FST-10 takes over from a process that has ended, and from a file that cannot be read', async () => {
  const layout = createLayout(tempFolder('claim'));
  for (const text of ['{"pid":1,"startTicks":"0","bootId":"another boot"}', 'half a fi']) {
    await writeFile(layout.claimFile, text);
    expect(await isClaimedHere(layout)).toBe(false);
    await claimFleet(layout, true);
    expect(await isClaimedHere(layout)).toBe(true);
  }
});

it('FST-10 refuses a fleet of a process that runs, and names it', async () => {
  const layout = createLayout(tempFolder('claim'));
  await claimFleet(layout, false);
  await expect(claimFleet(layout, true)).rejects.toMatchObject({
    code: 'InUse',
    where: `${layout.root}: pid ${process.pid}`,
    hint: expect.stringContaining(
      `end it with Ctrl-C in its terminal, or with: kill ${process.pid};`,
    ) as string,
  });
  await releaseClaim(layout);
  await claimFleet(layout, true);
  expect(await isClaimedHere(layout)).toBe(false);
});

it('FST-10 leaves a fleet to local up that was run after a killed start, and not while a start runs', async () => {
  const layout = createLayout(tempFolder('claim'));
  await writeFile(layout.claimFile, '{"pid":1,"startTicks":"0","bootId":"another boot"}');
  await releaseEndedClaim(layout);
  await claimFleet(layout, true);
  expect(await isClaimedHere(layout)).toBe(false);
  await claimFleet(layout, false);
  await releaseEndedClaim(layout);
  expect(await isClaimedHere(layout)).toBe(true);
});
