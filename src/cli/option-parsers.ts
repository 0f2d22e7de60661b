/** Parsers of option values: expected before found. */
import { isIP } from 'node:net';
import { InvalidArgumentError, Option } from 'commander';
import { DURATION_FORM, type DurationText, durationSeconds } from '../api/duration.ts';
import { SHA256 } from '../api/patterns.ts';
import { isLoopbackHost } from '../console/login/http/site.ts';
import type { ForeignClusterName } from '../controllers/following/clusterapi/management.ts';
import { parseZonedTime } from '../os/dates.ts';

export function createIntegerParser(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`Expected an integer from ${min} to ${max}, got ${JSON.stringify(text)}.`);
  };
}

export function parseIpAddress(text: string): string {
  if (isIP(text) !== 0) return text;
  throw new InvalidArgumentError(`Expected an IP address, got ${JSON.stringify(text)}.`);
}

/** `30m`, `8h`, `3d`: in seconds. */
export function parseDuration(text: string): number {
  const seconds = durationSeconds(text);
  if (seconds !== undefined) return seconds;
  throw new InvalidArgumentError(`Expected ${DURATION_FORM}, got ${JSON.stringify(text)}.`);
}

/** Parses a time with a zone: without one, two people would mean two moments. */
export function parseTimeOption(text: string): Date {
  const time = parseZonedTime(text);
  if (time) return time;
  throw new InvalidArgumentError(
    `Expected a time with a zone, such as 2030-12-20T18:00Z, got ${JSON.stringify(text)}.`,
  );
}

/** An option whose value is a number of seconds, with its default as people write it. */
export function createDurationOption(flags: string, description: string, byDefault: DurationText): Option {
  return new Option(flags, description)
    .argParser(parseDuration)
    .default(durationSeconds(byDefault), byDefault);
}

/** Where new hosts download the program of the agent. */
export function parseAgentUrl(text: string): string {
  if (URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol)) return text;
  throw new InvalidArgumentError('Expected an http or https URL.');
}

/** The address that people open. Without TLS only a name of the machine itself is accepted. */
export function parseConsoleUrl(text: string): URL {
  const url = URL.parse(text);
  // Without a path, a user and a query.
  const isOrigin = url?.href === `${url?.origin}/`;
  if (url && isOrigin && (url.protocol === 'https:' || isLoopbackHost(url.host))) return url;
  throw new InvalidArgumentError(`Expected https://NAME[:PORT], got ${JSON.stringify(text)}.`);
}

/** The API server for hosts. */
export function parseHostServer(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol === 'https:' && url.username === '' && url.pathname === '/') return url.origin;
  throw new InvalidArgumentError(`Expected https://HOST[:PORT], got ${JSON.stringify(text)}.`);
}

/** The path of the API is added to it. A password in it would be in the list of processes, and in errors. */
export function parsePrometheusUrl(text: string): string {
  return parseServerUrl(text);
}

export function parseOtlpEndpoint(text: string): string {
  return parseServerUrl(text);
}

function parseServerUrl(text: string): string {
  const url = URL.parse(text);
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (isHttp && [url.username, url.password, url.search, url.hash].every((part) => part === '')) return text;
  throw new InvalidArgumentError('Expected an http or https URL without a user, a query and a fragment.');
}

export function parseAgentSha256(text: string): string {
  if (new RegExp(SHA256.regex).test(text)) return text;
  throw new InvalidArgumentError('Expected 64 hexadecimal digits in lower case.');
}

/** Kubernetes permits no other characters in both names. */
const CLUSTER_NAME = /^(?<namespace>[a-z0-9]([-a-z0-9]*[a-z0-9])?)\/(?<name>[a-z0-9]([-a-z0-9.]*[a-z0-9])?)$/;

export function parseClusterName(text: string): ForeignClusterName {
  const { namespace, name } = CLUSTER_NAME.exec(text)?.groups ?? {};
  if (namespace !== undefined && name !== undefined) return { namespace, name };
  throw new InvalidArgumentError('Expected NAMESPACE/NAME of a Cluster of Cluster API.');
}

export function parseSecretName(text: string): string {
  if (/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(text)) return text;
  throw new InvalidArgumentError('Expected the name of a Secret.');
}
