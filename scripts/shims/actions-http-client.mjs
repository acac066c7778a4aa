// Stands in for @actions/http-client (and its auth module) in the bundle: @actions/core needs it for nothing but
// OIDC tokens, and it would bring undici, 97 % of the package. A use of it must fail loudly.
function absent(name) {
  return function construct() {
    throw new Error(`${name} is not part of this bundle: request OIDC tokens with fetch instead`);
  };
}

export const HttpClient = absent('HttpClient');
export const BearerCredentialHandler = absent('BearerCredentialHandler');
