// Starts GraphiQL against the path its page came from.
(function () {
  "use strict";
  var url = window.location.pathname;
  function fetcher(parameters) {
    return fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "application/json" },
      body: JSON.stringify(parameters),
    }).then(function (response) {
      return response.json();
    });
  }
  ReactDOM.createRoot(document.getElementById("graphiql")).render(
    React.createElement(GraphiQL, {
      fetcher: fetcher,
      defaultQuery: "# Ctrl-Space suggests what can be asked.\n{\n  __typename\n}\n",
      shouldPersistHeaders: false,
    })
  );
})();
