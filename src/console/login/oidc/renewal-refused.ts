/** The error of a token that is not renewed. In a file of its own: openid-client is loaded only for an issuer. */

/** The issuer refuses to renew a token: the person was signed out, or disabled. */
export class RenewalRefused extends Error {
  override readonly name = 'RenewalRefused';

  constructor() {
    super('the issuer refuses to renew the token');
  }
}
