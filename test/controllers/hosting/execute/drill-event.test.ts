import { describe, expect, it } from 'vitest';
import { INTERRUPTED } from '../../../../src/controllers/hosting/drivers/driver.ts';
import { drillEvent } from '../../../../src/controllers/hosting/execute/drill-event.ts';
import { wholeSeconds } from '../../../../src/os/dates.ts';
import { NOW } from '../../../support/builders.ts';
import { DRILLED, HOSTED, hostingInput, type InputParts } from '../../../support/hosting/objects.ts';

const EVERY = { etcd: { ...HOSTED.etcd, backup: { everySeconds: 3600, keep: 3 } } };
const backups = [{ name: DRILLED.backup, takenAt: new Date(+NOW - 60_000) }];
const FAILED = { at: NOW, problem: 'the API server cannot read secrets default/cut: EOF' };

function eventText(drill: object, status: InputParts['status'] = { conditions: [] }): string {
  const plane = { backup: { backups, drill: { at: NOW, ...drill } } };
  const event = drillEvent(hostingInput({ hosted: EVERY, plane, status }));
  return event ? `${event.type} ${event.reason}: ${event.note}` : 'none';
}

function reported(reason: string, lastDrillAt?: string): NonNullable<InputParts['status']> {
  const condition = {
    type: 'BackupReady',
    status: 'False',
    reason,
    message: 'm',
    lastTransitionTime: wholeSeconds(NOW),
  };
  const etcd = { members: 1, ready: 1, ...(lastDrillAt === undefined ? {} : { lastDrillAt }) };
  return { conditions: [condition], hosted: { etcd } } as never;
}

describe('the Event about a restore drill', () => {
  it('HOS-32 tells what was read', () => {
    expect(eventText({ checked: DRILLED })).toMatch(
      /^Normal HostingDrillSucceeded: the restore drill .* 312 objects/,
    );
  });

  it('HOS-32 tells which object cannot be read', () => {
    expect(eventText(FAILED)).toMatch(/^Warning HostingDrillFailed: .*cannot read secrets default\/cut/);
  });

  it.each<readonly [string, object, InputParts['status']]>([
    ['was reported before', { checked: DRILLED }, reported('Recent', wholeSeconds(NOW))],
    ['fails again', FAILED, reported('DrillFailed')],
    ['has not ended', { problem: INTERRUPTED }, undefined],
  ])('HOS-32 is not repeated for one that %s', (_, drill, status) => {
    expect(eventText(drill, status)).toBe('none');
  });
});
