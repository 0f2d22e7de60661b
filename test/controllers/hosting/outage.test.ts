import { describe, expect, it } from 'vitest';
import type { MemberOutage } from '../../../src/controllers/hosting/drivers/driver.ts';
import { lastOutage } from '../../../src/controllers/hosting/outage.ts';
import { wholeSeconds } from '../../../src/os/dates.ts';
import { ago, NOW } from '../../support/builders.ts';
import { hostingInput, members } from '../../support/hosting/objects.ts';

type Cause = MemberOutage['cause'];

function found(cause: Cause | undefined, before?: Cause): string {
  const outage = cause && { endedAt: NOW, milliseconds: 4321, cause };
  const recorded = before && { at: ago(3600), milliseconds: 9, cause: before };
  const input = hostingInput({
    plane: { members: members({ 'kube-apiserver': { outage } }) },
    status: { conditions: [], hosted: { ...(recorded && { lastOutage: recorded }) } },
  });
  const last = lastOutage(input);
  return last ? `${last.cause} ${last.milliseconds} ${last.at}` : 'none';
}

describe('the last outage of an API server', () => {
  const measured = `4321 ${wholeSeconds(NOW)}`;
  const recorded = `9 ${ago(3600)}`;

  it.each<readonly [string, Cause | undefined, Cause | undefined, string]>([
    ['nothing was measured', undefined, undefined, 'none'],
    ['a start is measured first', 'Start', undefined, `Start ${measured}`],
    ['another start is measured', 'Start', 'Start', `Start ${measured}`],
    ['a change is measured after a start', 'Change', 'Start', `Change ${measured}`],
    ['a change is measured after a change', 'Change', 'Change', `Change ${measured}`],
    ['a start is measured after a change, which takes longer', 'Start', 'Change', `Change ${recorded}`],
    ['another process of hosting measured it', undefined, 'Start', `Start ${recorded}`],
  ])('HOS-15 keeps what a person has to expect when %s', (_, cause, before, expected) => {
    expect(found(cause, before)).toBe(expected);
  });
});
