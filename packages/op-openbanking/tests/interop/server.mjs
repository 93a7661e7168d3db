// An OpenID-certified provider on loopback, set to FAPI 1.0 Advanced Final (or FAPI 2.0 for clients
// that register `fapi_profile: "2.0"`), behind TLS that asks for client certificates.
//
// Standard input: one line of JSON {key, certificate, authority, jwks, initialAccessToken}.
// Standard output: one line of JSON {issuer} once it listens. It ends when standard input closes.
//
// Beside the provider: an interaction that signs the user in and consents without a page, and
// /resource, which demands an access token bound to the certificate of the TLS connection.
import { createHash, X509Certificate } from 'node:crypto';
import { createServer } from 'node:https';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const require = createRequire(`${process.argv[2]}/package.json`);
const { Provider } = await import(pathToFileURL(require.resolve('oidc-provider')).href);

const input = createInterface({ input: process.stdin });
const setup = JSON.parse(await new Promise((resolve) => { input.once('line', resolve); }));
input.once('close', () => process.exit(0));

const peer = (socket) => {
  const raw = socket.getPeerCertificate?.()?.raw;
  return raw ? new X509Certificate(raw) : undefined;
};
// RFC 4514: node lists the subject from the top of the tree, one part on each line, unescaped.
const subject = (certificate) => certificate.subject.split('\n').reverse()
  .map((part) => part.replace(/(?<!\\),/g, '\\,')).join(',');

let answer = (_, response) => { response.writeHead(503).end(); };
const server = createServer({
  key: setup.key, cert: setup.certificate, ca: setup.authority, requestCert: true, rejectUnauthorized: false,
}, (request, response) => answer(request, response));
await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
const { port } = server.address();
const issuer = `https://127.0.0.1:${port}`;
const mutual = `https://localhost:${port}`;

const accounts = new Set();
const provider = new Provider(issuer, {
  jwks: setup.jwks,
  scopes: ['openid', 'offline_access', 'accounts', 'payments'],
  claims: { openid: ['sub'], acr: null, openbanking_intent_id: null },
  acrValues: ['urn:openbanking:psd2:sca', 'urn:openbanking:psd2:ca'],
  responseTypes: ['code id_token', 'code'],
  subjectTypes: ['public'],
  pkce: { methods: ['S256'], required: () => true },
  clientAuthMethods: ['private_key_jwt', 'tls_client_auth', 'self_signed_tls_client_auth'],
  enabledJWA: {
    idTokenSigningAlgValues: ['PS256', 'ES256'],
    requestObjectSigningAlgValues: ['PS256', 'ES256'],
    clientAuthSigningAlgValues: ['PS256', 'ES256'],
    authorizationSigningAlgValues: ['PS256', 'ES256'],
    userinfoSigningAlgValues: ['PS256', 'ES256'],
    introspectionSigningAlgValues: ['PS256', 'ES256'],
    dPoPSigningAlgValues: ['PS256', 'ES256'],
  },
  extraClientMetadata: { properties: ['fapi_profile', 'software_statement'] },
  discovery: {
    mtls_endpoint_aliases: {
      token_endpoint: `${mutual}/token`,
      pushed_authorization_request_endpoint: `${mutual}/request`,
      introspection_endpoint: `${mutual}/token/introspection`,
      revocation_endpoint: `${mutual}/token/revocation`,
      registration_endpoint: `${mutual}/reg`,
    },
  },
  findAccount: (ctx, id) => ({ accountId: id, claims: () => ({ sub: id, openbanking_intent_id: 'intent-1' }) }),
  interactions: { url: (ctx, interaction) => `/interaction/${interaction.uid}` },
  issueRefreshToken: (ctx, client) => client.grantTypeAllowed('refresh_token'),
  rotateRefreshToken: true,
  ttl: {
    AccessToken: 600, AuthorizationCode: 60, ClientCredentials: 600, IdToken: 600, RefreshToken: 3600,
    Grant: 3600, Interaction: 600, Session: 3600, PushedAuthorizationRequest: 60,
  },
  features: {
    devInteractions: { enabled: false },
    fapi: { enabled: true, profile: (ctx, client) => (client?.fapi_profile === '2.0' ? '2.0' : '1.0 Final') },
    mTLS: {
      enabled: true,
      certificateBoundAccessTokens: true,
      tlsClientAuth: true,
      selfSignedTlsClientAuth: true,
      getCertificate: (ctx) => peer(ctx.socket),
      certificateAuthorized: (ctx) => ctx.socket.authorized,
      certificateSubjectMatches: (ctx, property, expected) => {
        const certificate = peer(ctx.socket);
        if (property === 'tls_client_auth_subject_dn') return subject(certificate) === expected;
        if (property === 'tls_client_auth_san_dns') return certificate.subjectAltName.split(', ').includes(`DNS:${expected}`);
        return false;
      },
    },
    pushedAuthorizationRequests: { enabled: true },
    jwtResponseModes: { enabled: true },
    requestObjects: { request: true, requestUri: false, mode: 'strict' },
    claimsParameter: { enabled: true },
    clientCredentials: { enabled: true },
    introspection: { enabled: true },
    revocation: { enabled: true },
    userinfo: { enabled: true },
    dPoP: { enabled: true, nonceSecret: createHash('sha256').update(setup.initialAccessToken).digest(), requireNonce: () => true },
    registration: { enabled: true, initialAccessToken: setup.initialAccessToken },
    registrationManagement: { enabled: true, rotateRegistrationAccessToken: false },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => undefined,
      useGrantedResource: () => true,
      getResourceServerInfo: (ctx, resource) => ({
        scope: 'accounts payments', audience: resource, accessTokenFormat: 'jwt', accessTokenTTL: 600,
        jwt: { sign: { alg: 'PS256' } },
      }),
    },
  },
});
provider.proxy = false;

const json = (response, status, value) => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
};

// Signs the user in and consents to everything asked, where a bank would show its pages.
async function interact(request, response) {
  const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
  if (params.login_hint === 'refuse') {
    return provider.interactionFinished(request, response, { error: 'access_denied', error_description: 'the user said no' }, { mergeWithLastSubmission: false });
  }
  if (prompt.name === 'login') {
    accounts.add('user-1');
    return provider.interactionFinished(request, response, {
      login: { accountId: 'user-1', acr: 'urn:openbanking:psd2:sca', amr: ['pwd'] },
    }, { mergeWithLastSubmission: false });
  }
  const grant = grantId
    ? await provider.Grant.find(grantId)
    : new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  grant.addOIDCScope(params.scope);
  grant.addOIDCClaims(['acr', 'openbanking_intent_id']);
  for (const resource of [params.resource].flat().filter(Boolean)) grant.addResourceScope(resource, params.scope);
  return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } }, { mergeWithLastSubmission: true });
}

async function resource(request, response) {
  const [scheme, value] = (request.headers.authorization ?? '').split(' ');
  const token = await provider.AccessToken.find(value ?? '') ?? await provider.ClientCredentials.find(value ?? '');
  const certificate = peer(request.socket);
  const thumbprint = certificate && createHash('sha256').update(certificate.raw).digest('base64url');
  const bound = token?.isSenderConstrained?.() && token['x5t#S256'] !== undefined;
  if (scheme !== 'Bearer' || !bound || token['x5t#S256'] !== thumbprint) {
    response.setHeader('www-authenticate', 'Bearer error="invalid_token"');
    return json(response, 401, { error: 'invalid_token' });
  }
  response.setHeader('x-fapi-interaction-id', request.headers['x-fapi-interaction-id'] ?? '');
  return json(response, 200, { account: token.accountId ?? null, client: token.clientId });
}

const callback = provider.callback();
answer = (request, response) => {
  const path = request.url.split('?')[0];
  const refuse = (error) => json(response, 500, { error: String(error) });
  if (path.startsWith('/interaction/')) return interact(request, response).catch(refuse);
  if (path === '/resource') return resource(request, response).catch(refuse);
  return callback(request, response);
};

process.stdout.write(`${JSON.stringify({ issuer })}\n`);
