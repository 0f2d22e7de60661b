import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createMaintenanceIntake } from '../../../../src/controllers/hostdoctor/intake/webhook.ts';
import type { HookRequest } from '../../../../src/kube/webhook/request.ts';
import { ApiRefusal } from '../../../../src/sim/api-server/refusal.ts';
import { type MemoryLog, memoryLog } from '../../../support/memory-log.ts';
import { hardwareReport, type ReportBed, reportBed } from '../report/reports.ts';

const SECRET = '0123456789abcdef';

interface IntakeBed extends ReportBed {
  readonly log: MemoryLog;
  readonly send: (request: HookRequest) => Promise<string>;
  /** The secrets; undefined: they cannot be used. */
  secrets: readonly string[] | undefined;
}

function open(): IntakeBed {
  const bed = reportBed();
  const log = memoryLog();
  const { clock, recorder } = bed;
  const intake = createMaintenanceIntake({
    recorder,
    clock,
    log,
    readSecrets: async () => opened.secrets,
  });
  const opened: IntakeBed = {
    ...bed,
    log,
    secrets: [SECRET],
    send: async (request) => {
      const { status, result, text } = await intake.handle(request);
      return `${status} ${result}: ${text}`;
    },
  };
  return opened;
}

interface Signed {
  readonly age?: number;
  readonly id?: string;
  readonly secret?: string;
}

/** As a hardware system signs it, in the form of Standard Webhooks. */
function signed(
  { clock }: ReportBed,
  content: unknown,
  { age = 0, id = 'msg_1', secret = SECRET }: Signed = {},
): HookRequest {
  const body = typeof content === 'string' ? content : JSON.stringify(content);
  const timestamp = String(Math.floor(clock.now().getTime() / 1000) - age);
  const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    method: 'POST',
    path: '/maintenance',
    headers: { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` },
    readBody: async () => Buffer.from(body),
  };
}

const unreadable = (): never => {
  throw new Error('the body was read');
};

describe('MAC-39 the webhook of hardware systems', () => {
  it('records what is signed, as the one event of its id', async () => {
    const bed = open();
    expect(await bed.send(signed(bed, hardwareReport()))).toBe(
      '202 Accepted: recorded: MaintenanceEvent local-psu-7',
    );
    expect(await bed.send(signed(bed, hardwareReport(), { id: 'msg_2' }))).toMatch(
      /^202 Repeated: received before/,
    );
    expect(await bed.send(signed(bed, hardwareReport({ state: 'Cancelled' })))).toMatch(/^202 Accepted/);
    expect(bed.events()).toEqual({ 'local-psu-7': 'psu-7 Cancelled' });
  });

  it('changes nothing by a delivery that is repeated after a later one', async () => {
    const bed = open();
    const first = signed(bed, hardwareReport());
    await bed.send(first);
    await bed.clock.advance(10_000);
    await bed.send(signed(bed, hardwareReport({ state: 'Executing' })));
    expect(await bed.send(first)).toMatch(
      /^202 Ignored: ignored: MaintenanceEvent local-psu-7 has a report of/,
    );
    expect(bed.events()).toEqual({ 'local-psu-7': 'psu-7 Executing' });
  });

  it.each<[what: string, request: (bed: IntakeBed) => HookRequest]>([
    ['signed with another secret', (bed) => signed(bed, hardwareReport(), { secret: 'another secret 0' })],
    ['older than five minutes', (bed) => signed(bed, hardwareReport(), { age: 301 })],
    ['of the future', (bed) => signed(bed, hardwareReport(), { age: -301 })],
    [
      'changed on its way',
      (bed) => ({ ...signed(bed, hardwareReport()), readBody: async () => Buffer.from('{}') }),
    ],
    ['without an id', (bed) => signed(bed, hardwareReport(), { id: '' })],
  ])('refuses a request that is %s', async (_, request) => {
    const bed = open();
    expect(await bed.send(request(bed))).toMatch(/^401 Refused: the signature does not match/);
    expect(bed.events()).toEqual({});
  });

  it('accepts no signature without a time, which could be repeated at any time', async () => {
    const bed = open();
    const body = JSON.stringify(hardwareReport());
    const hex = createHmac('sha256', SECRET).update(body).digest('hex');
    const headers = { 'x-hub-signature-256': `sha256=${hex}` };
    const request = { ...signed(bed, body), headers, readBody: unreadable };
    expect(await bed.send(request)).toMatch(/^401 Refused: the request has no signature/);
  });

  it.each<[what: string, changes: Partial<HookRequest>, answer: RegExp]>([
    [
      'another path',
      { path: '/hooks/fleet', readBody: unreadable },
      /^404 Unknown: not found: expected \/maintenance/,
    ],
    ['another method', { method: 'GET', readBody: unreadable }, /^405 Invalid: only POST/],
    ['a body that is too large', { readBody: async () => undefined }, /^413 Invalid: .*larger than 64 KiB/],
  ])('refuses %s', async (_, changes, answer) => {
    const bed = open();
    expect(await bed.send({ ...signed(bed, hardwareReport()), ...changes })).toMatch(answer);
  });

  it.each<[what: string, content: unknown, answer: RegExp]>([
    ['no JSON', '{', /^422 Invalid: invalid: expected a JSON object/],
    ['an unknown field', { ...hardwareReport(), machin: 1 }, /^422 Invalid: invalid: machin: unknown field/],
    [
      'a machine that does not exist',
      hardwareReport({ machine: 'm-9' }),
      /^422 Invalid: Machine m-9 does not exist/,
    ],
  ])('tells the sender of %s what is wrong', async (_, content, answer) => {
    const bed = open();
    expect(await bed.send(signed(bed, content))).toMatch(answer);
    expect(bed.events()).toEqual({});
  });

  it('tells the sender that an event which ended cannot begin again', async () => {
    const bed = open();
    await bed.send(signed(bed, hardwareReport({ state: 'Cancelled' })));
    await bed.clock.advance(10_000);
    expect(await bed.send(signed(bed, hardwareReport()))).toMatch(/^409 Invalid: .*cannot begin again/);
  });

  it('asks the sender to send it again while the secret or the API server cannot be used', async () => {
    const bed = open();
    bed.api.refuse(/^create/, new ApiRefusal(500, 'InternalError', 'not now'));
    expect(await bed.send(signed(bed, hardwareReport()))).toMatch(
      /^503 Unavailable: the API server has not recorded the event: see the log/,
    );
    bed.secrets = undefined;
    expect(await bed.send({ ...signed(bed, hardwareReport()), readBody: unreadable })).toMatch(
      /^503 Unavailable: the Secret/,
    );
    bed.secrets = ['fedcba9876543210', SECRET];
    expect(await bed.send(signed(bed, hardwareReport()))).toMatch(/^202 Accepted/);
  });

  it('lets a storm of forged requests take no place from those that are signed', async () => {
    const bed = open();
    const forged = signed(bed, hardwareReport(), { secret: 'another secret 0' });
    const answers = await Promise.all(Array.from({ length: 399 }, () => bed.send(forged)));
    expect(answers.every((answer) => answer.startsWith('401'))).toBe(true);
    expect(await bed.send(signed(bed, hardwareReport()))).toMatch(/^202 Accepted/);
    expect(await bed.send(forged)).toMatch(/^429 Limited: too many requests/);
  });

  it('records twenty a second after a burst of two hundred, and asks for patience beyond that', async () => {
    const bed = open();
    const request = signed(bed, hardwareReport());
    for (let sent = 0; sent < 200; sent += 1) await bed.send(request); // oxlint-disable-line no-await-in-loop -- in this order
    expect(await bed.send(request)).toMatch(/^429 Limited: too many requests: at most 20 a second/);
    await bed.clock.advance(50);
    expect(await bed.send(request)).toMatch(/^202 Repeated/);
  });

  it('logs neither the secret nor the body', async () => {
    const bed = open();
    await bed.send(signed(bed, hardwareReport({ details: 'confidential' })));
    const text = JSON.stringify(bed.log.lines);
    expect(text).toContain('maintenance event received');
    expect(text).not.toMatch(/confidential|0123456789abcdef/);
  });
});
