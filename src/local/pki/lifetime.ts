/** The lifetime of certificates that the CAs of a control plane sign. */

/** The lifetime without another choice: a year. */
export const CERTIFICATE_SECONDS = 31_536_000;

/** When certificates are renewed, and how long they are valid then. */
export interface CertificateLife {
  readonly now: Date;
  readonly seconds: number;
  /** The part of its life after which a certificate is renewed. Undefined: in its last month. */
  readonly renewAtPercent?: number | undefined;
}

export interface ChosenLife {
  readonly leafLifetimeSeconds?: number | undefined;
  readonly renewAtPercent: number;
}

/** Returns the life that the settings of a hosted control plane choose. A local cluster has none. */
export function lifeOf(chosen: ChosenLife | undefined, now: Date): CertificateLife {
  const { leafLifetimeSeconds: seconds = CERTIFICATE_SECONDS, renewAtPercent } = chosen ?? {};
  return { now, seconds, renewAtPercent };
}

/** Returns how long before its end a certificate is renewed. */
export function renewBeforeMs({ seconds, renewAtPercent }: Omit<CertificateLife, 'now'>): number {
  return renewAtPercent === undefined ? LAST_MONTH_MS : (seconds * 1000 * (100 - renewAtPercent)) / 100;
}

const LAST_MONTH_MS = 30 * 86_400_000;
