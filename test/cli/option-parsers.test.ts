import { describe, expect, it } from 'vitest';
import {
  createIntegerParser,
  parseDuration,
  parseIpAddress,
  parsePrometheusUrl,
} from '../../src/cli/option-parsers.ts';

describe('createIntegerParser', () => {
  const parse = createIntegerParser(0, 65_535);

  it.each([
    ['0', 0],
    ['8080', 8080],
    ['65535', 65_535],
  ])('accepts %s', (text, value) => {
    expect(parse(text)).toBe(value);
  });

  it.each(['', 'x', '-1', '1.5', '1e3', '65536', ' 1'])('refuses %j', (text) => {
    expect(() => parse(text)).toThrow(`Expected an integer from 0 to 65535, got ${JSON.stringify(text)}.`);
  });
});

describe('parseIpAddress', () => {
  it.each(['127.0.0.1', '::1'])('accepts %s', (text) => {
    expect(parseIpAddress(text)).toBe(text);
  });

  it('refuses a host name', () => {
    expect(() => parseIpAddress('localhost')).toThrow('Expected an IP address, got "localhost".');
  });
});

describe('parseDuration', () => {
  it.each([
    ['90s', 90],
    ['30m', 1800],
    ['8h', 28_800],
    ['3d', 259_200],
  ])('accepts %s', (text, seconds) => {
    expect(parseDuration(text)).toBe(seconds);
  });

  it.each(['', '8', 'h', '0h', '1.5h', '-1h', '367d', '8 h', '8hours'])('refuses %j', (text) => {
    expect(() => parseDuration(text)).toThrow('Expected a number with s, m, h or d');
  });
});

describe('parsePrometheusUrl', () => {
  it.each(['http://prometheus.monitoring:9090', 'https://thanos.example.com/tenant/a/'])(
    'accepts %s',
    (text) => {
      expect(parsePrometheusUrl(text)).toBe(text);
    },
  );

  it.each([
    '',
    'prometheus:9090',
    'file:///etc/passwd',
    'http://user:secret@prometheus',
    'http://prometheus/?x=1',
    'http://p/#x',
  ])('refuses %j, and does not repeat it', (text) => {
    expect(() => parsePrometheusUrl(text)).toThrow(
      'Expected an http or https URL without a user, a query and a fragment.',
    );
  });
});
