import { describe, expect, it } from 'vitest';
import {
  answerError,
  onlySystem,
  pathIn,
  readActionInfo,
  readSystem,
  resetTypeFor,
} from '../../../src/providers/redfish/answers.ts';

describe('readSystem', () => {
  it.each([
    ['On', 'On'],
    ['Off', 'Off'],
    ['PoweringOn', 'Changing'],
    ['PoweringOff', 'Changing'],
    ['Paused', 'Unknown'],
    ['toString', 'Unknown'],
  ])('reads the power state %s as %s', (PowerState, power) => {
    expect(readSystem({ PowerState }).power).toBe(power);
  });

  it.each([[undefined], [null], ['On'], [[]], [{ Actions: 7 }]])('knows nothing of %j', (body) => {
    expect(readSystem(body)).toEqual({ power: 'Unknown' });
  });

  it('ignores an action that leads out of the service', () => {
    const Actions = { '#ComputerSystem.Reset': { target: '/admin/reset' } };
    expect(readSystem({ Actions })).toEqual({ power: 'Unknown' });
  });
});

describe('resetTypeFor', () => {
  it.each([
    ['On', undefined, 'On'],
    ['On', ['ForceOff', 'ForceOn'], 'ForceOn'],
    ['Off', ['GracefulShutdown', 'ForceOff'], 'ForceOff'],
  ] as const)('requests %s of %j by %s', (wanted, allowed, type) => {
    expect(resetTypeFor(wanted, allowed)).toBe(type);
  });

  it('never shuts down gracefully, nor pushes the button', () => {
    const allowed = ['GracefulShutdown', 'PushPowerButton', 'On'];
    expect(() => resetTypeFor('Off', allowed)).toThrow('It permits: GracefulShutdown, PushPowerButton, On');
    expect(() => resetTypeFor('On', [])).toThrow('It permits: none');
  });
});

describe('the documents beside a system', () => {
  it('list the reset types of their parameter', () => {
    expect(readActionInfo({ Parameters: [{ Name: 'ResetType', AllowableValues: ['On', 3] }] })).toEqual([
      'On',
    ]);
    expect(readActionInfo({ Parameters: [{ Name: 'Other', AllowableValues: ['On'] }] })).toBeUndefined();
  });

  it('name the only system, or are refused', () => {
    expect(onlySystem({ Members: [{ '@odata.id': '/redfish/v1/Systems/1' }] })).toBe('/redfish/v1/Systems/1');
    expect(() => onlySystem({})).toThrow('the BMC has not one system, but none');
  });

  it.each([
    ['/redfish/v1/Systems/1', '/redfish/v1/Systems/1'],
    ['https://other/redfish/v1/Systems/1', '/redfish/v1/Systems/1'],
    ['/redfish/v1/../../admin', undefined],
    ['//evil/x', undefined],
    [undefined, undefined],
  ])('link to %j: %j', (link, path) => {
    expect(pathIn(link)).toBe(path);
  });
});

describe('answerError', () => {
  it.each([
    [401, 'Auth', 'Auth'],
    [403, 'Auth', 'Auth'],
    [404, 'Terminal', 'SystemNotFound'],
    [307, 'Terminal', 'RefusedByBMC'],
    [400, 'Terminal', 'RefusedByBMC'],
    [409, 'Retryable', 'BMCBusy'],
    [503, 'Retryable', 'BMCBusy'],
  ])('%i is %s with reason %s', (status, code, reason) => {
    expect(answerError('read', { status, body: undefined })).toMatchObject({ code, reason });
  });

  it('keeps the time of a retry, and quotes no text of the service', () => {
    const body = { error: { message: 'your password is hunter2', code: 'Base.1.0.GeneralError' } };
    const error = answerError('read', { status: 503, retryAfter: '30', body });
    expect(error).toMatchObject({ retryAfterSeconds: 30 });
    expect(error?.message).toBe('read: the BMC answered 503 (Base.1.0.GeneralError)');
  });

  it.each([200, 201, 202, 204])('%i is a success', (status) => {
    expect(answerError('read', { status, body: undefined })).toBeUndefined();
  });
});
